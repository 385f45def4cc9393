import type { AccessRow } from '#src/access/overview.ts'
import { roles } from '#src/access/roles.ts'

const introduction = `# Who may do what

Generated from [the policy](../src/access/policy.ts): \`npm run generate\`. What is not in the table is refused. The permission is judged first (403), then whether the object is within reach (404 for what is missing and for what is not), then what else is asked (403). A limited token needs what its column names, and its owner the rest.
`

/** The policy as a Markdown document. */
export function accessDocument(rows: readonly AccessRow[]): string {
  const header = ['Resource', 'Action', ...roles, 'Which', 'Only', 'Limited token']
  const lines = rows.map(
    ({ resource, action, roles: allowed, scope, conditions, tokenPermission }) => [
      resource,
      action,
      ...roles.map((role) => (allowed.includes(role) ? 'yes' : '–')),
      scope,
      conditions.join('; '),
      tokenPermission === null ? '–' : `\`${tokenPermission}\``,
    ],
  )
  const table = [header, header.map(() => '---'), ...lines].map(
    (cells) => `| ${cells.join(' | ')} |`,
  )
  return `${introduction}\n${table.join('\n')}\n`
}
