import { spawnSync } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { buildPackage, install, runInstalled, top } from '#test/release/package-app.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'
import { applyBlock, blocksOf } from './blocks.ts'

/* docs/tutorial.md, carried out in a new app that depends on the packed file. */

type Step = {
  heading: string
  text: string
  /** Each with the lines that it prints among others. */
  commands: readonly { lines: readonly string[]; sees: readonly string[] }[]
}

function stepsOf(page: string): Step[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((text) => {
      const runs = text.matchAll(
        /^```sh\n([\s\S]*?)^```\n(?:[^`]*?\n)?\n*```text\n([\s\S]*?)^```$/gm,
      )
      const commands = [...runs].map(([, command = '', seen = '']) => ({
        lines: command.trim().split('\n'),
        sees: seen.trim().split('\n'),
      }))
      return { heading: text.slice(0, text.indexOf('\n')), text, commands }
    })
}

t.test('docs/tutorial.md', async (t) => {
  const page = await readFile(join(top, 'docs/tutorial.md'), 'utf8')
  const steps = stepsOf(page)
  t.equal(steps.length, 10)
  const commands = steps.flatMap((step) => step.commands)
  t.equal(commands.length, page.match(/^```sh$/gm)?.length, 'each command says what is seen')
  const archive = buildPackage(top)
  const folder = await temporaryFolder(t)
  await install(folder, archive)
  const app = join(folder, 'tracker')
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const inApp = { cwd: app, encoding: 'utf8', env } as const

  async function gatehouse(args: string[]): Promise<string> {
    const isNew = args[0] === 'create'
    const given = isNew ? [...args, '--package', archive] : args
    const program = await runInstalled(t, isNew ? folder : app, given)
    t.equal(await program.ended, 0, `${args.join(' ')}: ${program.output()}`)
    if (isNew) await installAll(app, archive)
    return program.output()
  }
  function node(args: string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, inApp)
    t.equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  async function run(line: string): Promise<string> {
    if (line === 'npm test') return node(['--test', '--test-reporter=spec'])
    if (line === 'npm run check') {
      const types = node([join(top, 'node_modules/typescript/bin/tsc')])
      return `${types}${await gatehouse(['generate', '--check'])}${await gatehouse(['migrate', 'dev', '--check'])}`
    }
    const [npx, program, ...args] = line.split(' ')
    t.same([npx, program], ['npx', 'gatehouse'])
    return gatehouse(args)
  }

  for (const { heading, text, commands } of steps) {
    for (const block of blocksOf(text)) await applyBlock(app, block)
    for (const { lines, sees } of commands) {
      let output = ''
      for (const line of lines) output += await run(line)
      for (const seen of sees) {
        const isSeen = output.includes(seen)
        t.ok(isSeen, `${heading}: ${seen}`, isSeen ? {} : { output })
      }
    }
  }
})

/** The package, and links to what a new app is developed with. */
async function installAll(app: string, archive: string): Promise<void> {
  await install(app, archive)
  const { devDependencies } = JSON.parse(await readFile(join(app, 'package.json'), 'utf8'))
  for (const name of Object.keys(devDependencies)) {
    await mkdir(dirname(join(app, 'node_modules', name)), { recursive: true })
    await symlink(join(top, 'node_modules', name), join(app, 'node_modules', name))
  }
}
