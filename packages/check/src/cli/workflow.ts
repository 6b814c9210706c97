/** The workflow that `--init --github` writes. */
import { existsSync } from 'node:fs';

export const WORKFLOW = '.github/workflows/mrtr-check.yml';

/** The workflow's text. The project installs the checker from a file: while it is unpublished, anybody can take its name on npm. */
export const workflowText = (
  config: string,
  secrets: readonly string[],
) => `# Written by mrtr-check --init --github.
name: mrtr-check
on:
  push:
  pull_request:
permissions:
  contents: read
  # Findings are shown on the code-scanning page.
  security-events: write
jobs:
  mrtr-check:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
      - uses: actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0
        with:
          node-version: 22
      - run: ${existsSync('pnpm-lock.yaml') ? 'npx -y pnpm@12 install --frozen-lockfile' : existsSync('package-lock.json') ? 'npm ci' : 'npm install'}
      # Without --quick, every check runs: do that before a release.
      - run: >-
          npx --no-install mrtr-check --config ${config} --quick --source .
          --report sarif=mrtr-check.sarif --report markdown=mrtr-check.md
${secrets.length === 0 ? '' : `        env:\n${secrets.map((name) => `          ${name}: \${{ secrets.${name} }}\n`).join('')}`}\
      - if: always()
        run: cat mrtr-check.md >> "$GITHUB_STEP_SUMMARY"
      - if: always()
        uses: github/codeql-action/upload-sarif@5d4e8d1aca955e8d8589aabd499c5cae939e33c7 # v4.31.9
        with:
          sarif_file: mrtr-check.sarif
`;
