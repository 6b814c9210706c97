/** The head of a table. */
export const Columns = ({ titles }: { readonly titles: readonly string[] }) => (
  <thead>
    <tr>
      {titles.map((title) => (
        <th scope="col" key={title}>
          {title}
        </th>
      ))}
    </tr>
  </thead>
);
