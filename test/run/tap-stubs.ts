import { registerHooks } from 'node:module'

/*
 * Loaded before tap: changes what it compares, and replaces the parts that no test uses and that cost
 * processor time.
 *
 * In a pattern of t.match tap takes any date for any other, as it compares their own properties, of
 * which they have none. Here they must be the same time.
 *
 * async-hook-domain follows every promise through an async hook, to say in which test of a file an
 * error was thrown that nobody caught: a fifth to a third of the time of a test that sends requests.
 * Without it such an error ends the file, which has failed then, with its stack.
 *
 * The hooks of @tapjs/mock and @tapjs/processinfo look at every module that is loaded: 0.4 s a process,
 * which is as long as loading the program takes, and again in every program that a test starts.
 * Processinfo measures coverage, so it stays where coverage is measured.
 */

const domain = `export class Domain {
  constructor(onerror) {
    this.onerror = onerror
  }
  destroy() {}
}`

const measuresCoverage = process.env.TAP_DISABLE_COVERAGE === '0'

const matchWithDates = (url: string) => `import { Match } from '${url}'
const { test } = Match.prototype
Match.prototype.test = function () {
  const { object, expect } = this
  const areDates = object instanceof Date && expect instanceof Date
  return areDates ? object.getTime() === expect.getTime() : test.call(this)
}
export { Match }`

/** By the end of the module's name. */
const stubs: Readonly<Record<string, string>> = {
  'async-hook-domain': domain,
  '/@tapjs/mock/dist/esm/import.mjs': '',
  ...(measuresCoverage ? {} : { '/@tapjs/processinfo/dist/esm/import.mjs': '' }),
}

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier === './match.js' && context.parentURL?.endsWith('/tcompare/dist/esm/index.js')) {
      return moduleOf(matchWithDates(next(specifier, context).url))
    }
    const name = Object.keys(stubs).find((end) => specifier.endsWith(end))
    return name === undefined ? next(specifier, context) : moduleOf(stubs[name] ?? '')
  },
})

function moduleOf(source: string) {
  return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true }
}
