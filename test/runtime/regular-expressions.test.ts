import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import vm from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { collectRoutes } from '#dev/testing/access/collected-routes.ts'
import { hiddenCharacters, hiddenExpression } from '#src/runtime/text.ts'
import { build } from '#test/support/app/app.ts'

type Expression = { where: string; source: string; flags: string }

const files = '{src,plugins,routes,clients/typescript/src}/**/*.ts'
/** They see files and SQL of this repository, settings, and arguments of the command line only. */
const seesNothingFromOutside = ['src/db/generated/**', 'src/{config,commands,schema}/**']

// At the first length n² steps take longer, unless the machine is busy. At the second they take 64 times as long as at
// the first, and a linear expression eight times as long, however slow the machine is.
const screened = { length: 10_000, ms: 25 }
const proven = { length: 80_000, times: 24 }
/** What takes so long at the first length is slow, whatever it takes at the second. */
const endlessMs = 2_000

t.test('no regular expression that sees outside text takes more than linear time', async (t) => {
  const found = [...(await literals()), ...(await patterns(t)), ...composed]
  const wheres = new Set(found.map(({ where }) => where))
  for (const known of ['src/billing/signature.ts', 'pattern', 'src/runtime/text.ts']) {
    t.ok(wheres.has(known), `${known} is found`)
  }
  t.strictSame(distinct(found).flatMap(slowText), [])
  t.comment(`${found.length} expressions`)
})

t.test('an expression that takes quadratic time is found', async (t) => {
  const known = [String.raw`^\s*([\w-]+)\s*:\s*(.*?)\s*$`, '(x+x+)+y']
  for (const source of known) {
    t.equal(slowText({ where: 'here', source, flags: '' }).length, 1, source)
  }
})

/** Every literal of the program, by the characters that can stand before one. */
async function literals(): Promise<Expression[]> {
  const form =
    /(?:[=(,:!&|?[{}]|return|=>)\s*\/((?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g
  const found = globSync(files, { exclude: seesNothingFromOutside }).map(async (where) => {
    const text = await readFile(where, 'utf8')
    const code = text.replaceAll(/^ *(\/\/|\/?\*).*$/gm, '')
    return [...code.matchAll(form)].map(([, source = '', flags = '']) => ({ where, source, flags }))
  })
  return (await Promise.all(found)).flat()
}

/** Every pattern in a schema of a route. */
async function patterns(t: Parameters<typeof build>[0]): Promise<Expression[]> {
  const { routes } = await collectRoutes(() => build(t))
  const sources = new Set<string>()
  JSON.stringify(routes, (key, value) => {
    if (key === 'pattern' && typeof value === 'string') sources.add(value)
    return value
  })
  return [...sources].map((source) => ({ where: 'pattern', source, flags: 'u' }))
}

/** Those that occur in several places once. */
function distinct(found: readonly Expression[]): Expression[] {
  return [...Map.groupBy(found, ({ source, flags }) => `/${source}/${flags}`).values()].map(
    ([first, ...others]) => ({
      source: first?.source ?? '',
      flags: first?.flags ?? '',
      where: [first, ...others].map((one) => one?.where).join(', '),
    }),
  )
}

/** Those that are made of constants. */
const composed: readonly Expression[] = [
  { where: 'src/runtime/text.ts', source: hiddenExpression.source, flags: 'u' },
  { where: 'src/auth/oidc/tokens/id-token.ts', source: `[\\p{Cc}${hiddenCharacters}]`, flags: 'u' },
  { where: 'src/webhooks/client/url.ts', source: `[\\s\\p{Cc}${hiddenCharacters}]`, flags: 'u' },
  { where: 'src/http/return-path.ts', source: '^/app/invoices/[^/]+$', flags: '' },
]

/** Texts that are tried within one limit of time, because starting its watch takes longer than a search. */
const together = 25

/** The first text for which the expression takes more than linear time. */
function slowText({ where, source, flags }: Expression): string[] {
  const expression = new RegExp(source, flags.includes('g') ? flags : `${flags}g`)
  const isSlow = (make: Make) => {
    if (!isStopped(expression, [make(screened.length)], screened.ms)) return false
    return [1, 2].every(() => {
      const before = process.threadCpuUsage()
      if (isStopped(expression, [make(screened.length)], endlessMs)) return true
      const { user, system } = process.threadCpuUsage(before)
      const most = proven.times * Math.max((user + system) / 1_000, screened.ms / 2)
      return isStopped(expression, [make(proven.length)], Math.ceil(2 * most))
    })
  }
  const all = texts(expression)
  for (let first = 0; first < all.length; first += together) {
    const some = all.slice(first, first + together)
    const long = some.map((make) => make(screened.length))
    const slow = isStopped(expression, long, screened.ms) ? some.find(isSlow) : undefined
    if (slow !== undefined) return [`${where} /${source}/ on ${JSON.stringify(slow(3))}, longer`]
  }
  return []
}

const context = vm.createContext({})
const replace = new vm.Script('for (const text of texts) text.replace(expression, "")')

/** Whether it is still at work on the texts when it has had half of that time of the processor. */
function isStopped(
  expression: RegExp,
  texts: readonly string[],
  ms: number,
  timeout = ms,
): boolean {
  Object.assign(context, { texts, expression })
  const before = process.threadCpuUsage()
  try {
    replace.runInContext(context, { timeout })
    return false
  } catch (error) {
    if (Object(error).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    const { user, system } = process.threadCpuUsage(before)
    const isBusy = user + system < ms * 500
    return isBusy ? isStopped(expression, texts, ms, timeout * 2) : true
  }
}

type Make = (length: number) => string

/** A long run of each character at each place of some texts that match, as they are and spoiled. */
function texts(expression: RegExp): Make[] {
  const runs = charactersOf(expression.source)
  return ['', ...examples(expression)].flatMap((example) => {
    const letters = [...example].slice(0, 12)
    return letters.concat('').flatMap((_, at) =>
      runs.flatMap((run) =>
        ['', '\0', '!'].map(
          (end): Make =>
            (length) => {
              const before = letters.slice(0, at).join('')
              const after = letters.slice(at).join('')
              return `${before}${run.repeat(length)}${after}${end}`
            },
        ),
      ),
    )
  })
}

/** Texts that match, the same in every run; none for what fast-check cannot make. */
function examples({ source, flags }: RegExp): string[] {
  try {
    const matching = fc.stringMatching(new RegExp(source, flags.replace('i', '')), {
      size: 'xsmall',
    })
    return fc.sample(matching, { numRuns: 3, seed: 1 })
  } catch {
    return []
  }
}

const candidates = ['a', 'A', 'f', '0', ' ', '\t', '\r', '\n', '\0', '"', '/', '\\', '-', ',', '!']
const foreign = ['é', '\u0301', '\u094D', '\u200C', '\u200D', '\u2028', '\u0628', '👩', '\uE000']

/** Each character that occurs, and one or two of each class. */
function charactersOf(source: string): string[] {
  const classes = source.match(/\[(?:[^\]\\]|\\.)*\]|\\p\{[^}]*\}|\\[dswDSW]|\./giu) ?? []
  const plain = [...source.replaceAll(/\\.|[\^$*+?()[\]{}|]/gu, '')]
  const all = [...candidates, ...foreign, ...plain]
  const members = classes.flatMap((one) => {
    const member = new RegExp(`^(?:${one})$`, /\\p|\\u/.test(one) ? 'u' : '')
    return all.filter((character) => member.test(character)).slice(0, 2)
  })
  return [...new Set([...members, ...plain, 'a'])]
}
