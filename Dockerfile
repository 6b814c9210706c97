# The checker for authors in other languages: `docker build -t mrtr-check .`, and then, with a server at port 3000,
# docker run --rm --network host -v "$PWD:/work" mrtr-check --find http://localhost:3000/mcp
# Not built in our CI, which has no Docker: a proof runs its steps, tests/check/ci.proof.ts.
FROM node:22-slim AS build
WORKDIR /src
COPY . .
RUN npx -y pnpm@12 install --frozen-lockfile
RUN npx -y pnpm@12 -r --filter @mrtr/harness --filter @mrtr/check pack --pack-destination /packed

FROM node:22-slim
COPY --from=build /packed /packed
RUN npm install --prefix /opt/mrtr-check /packed/*.tgz
ENV PATH=/opt/mrtr-check/node_modules/.bin:$PATH
WORKDIR /work
ENTRYPOINT ["mrtr-check"]
