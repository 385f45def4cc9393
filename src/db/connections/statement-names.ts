import { isPooled } from './pool-options.ts'

const maxNames = 400 // the code has fewer texts; a list of values makes one for each length

/**
 * A name for each text, so that a connection plans it once: under row-level security planning costs
 * more than running it. Texts past the limit have the empty name, which keeps no plan. So has every
 * text behind a pooler, where the next transaction may run on another connection.
 */
export function nameStatements(url: string): (text: string) => string {
  if (isPooled(url)) return () => ''
  const names = new Map<string, string>()
  return function nameOf(text) {
    if (!names.has(text) && names.size < maxNames) names.set(text, `statement-${names.size}`)
    return names.get(text) ?? ''
  }
}
