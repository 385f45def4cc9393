import { registerHooks } from 'node:module'

/*
 * Loaded before tap: replaces the parts of tap that no test uses and that cost processor time.
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

/** By the end of the module's name. */
const stubs: Readonly<Record<string, string>> = {
  'async-hook-domain': domain,
  '/@tapjs/mock/dist/esm/import.mjs': '',
  ...(measuresCoverage ? {} : { '/@tapjs/processinfo/dist/esm/import.mjs': '' }),
}

registerHooks({
  resolve: (specifier, context, next) => {
    const name = Object.keys(stubs).find((end) => specifier.endsWith(end))
    if (name === undefined) return next(specifier, context)
    const source = encodeURIComponent(stubs[name] ?? '')
    return { url: `data:text/javascript,${source}`, shortCircuit: true }
  },
})
