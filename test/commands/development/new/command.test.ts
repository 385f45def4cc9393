import { execFile } from 'node:child_process'
import { glob, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '')

t.test('an app gets a resource of each scope, whose tests pass', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/gatehouse'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(
    join(folder, 'gatehouse.config.ts'),
    `import { defineApp, everything } from 'gatehouse'

export default defineApp({
  name: 'acme',
  roles: { guest: [], boss: everything },
  manages: 'boss',
  resources: [],
})
`,
  )
  const run = async (...args: string[]) => {
    const program = await runProgram(t, args, {}, { cwd: folder })
    return { status: await program.ended, output: program.output() }
  }
  const hints = {
    task: 'task:read, task:write, task:delete',
    bookmark: undefined,
    minute: 'minute:write, minute:delete',
  }
  const kinds = ['body:text:500', 'status:choice:open/done', 'due:date', 'seats:integer']
  const more = ['urgent:flag', 'contact:email:optional', 'plan:url']
  for (const [name, ...args] of [
    ['task', ...kinds, ...more, '--scope', 'tenant', '--page', 'Tasks'],
    ['bookmark', 'note:text:500:optional', '--scope', 'owner'],
    ['minute', '--scope', 'chain', '--page', 'Minutes'],
  ] as const) {
    const { status, output } = await run('new', name, 'title:line:200', ...args)
    t.equal(status, 0, `${name}: ${output}`)
    t.match(output, `Next: a row for ${name} in the table of expectAccess, `)
    t.match(output, 'and gatehouse generate.')
    const hint = /^Give (.*) to the roles/m.exec(output)?.[1]
    t.equal(hint, hints[name], 'only what a role needs')
  }
  t.match(await run('migrate', 'dev', '--check'), { status: 0 })
  t.match(await run('generate'), { status: 0 })

  const before = await textsIn(folder)
  const title = 'title:line:200'
  const refused: [string[], RegExp][] = [
    [['new', 'task', title, '--scope', 'owner'], /the policy has rules for task already/],
    [['new', 'note', title, '--plural', 'webhooks', '--scope', 'owner'], /path \/app\/webhooks/],
    [['new', 'note', title], /required option '--scope <scope>' not specified/],
    [['new', 'note', title, '--scope', 'all'], /Allowed choices are owner, tenant, chain/],
    [['new', 'note', '--scope', 'owner'], /missing required argument 'field'/],
  ]
  for (const [args, output] of refused) {
    t.match(await run(...args), { status: 2, output }, args.join(' '))
  }
  t.strictSame(await textsIn(folder), before, 'what is refused writes nothing')

  const { PATH, HOME } = process.env
  const tests = await promisify(execFile)(
    process.execPath,
    ['--test', '--test-reporter=tap', '--test-concurrency=1'],
    { cwd: folder, env: { PATH, HOME } },
  )
  t.match(tests.stdout, '# pass 3')
})

async function textsIn(folder: string): Promise<string[]> {
  const texts: string[] = []
  for await (const path of glob(
    '{*,{resources,test,migrations,generated}/**/*}.{ts,sql,md,prisma}',
    {
      cwd: folder,
    },
  )) {
    texts.push(`${path} ${await readFile(join(folder, path), 'utf8')}`)
  }
  return texts.toSorted()
}
