import tab from '@bomb.sh/tab/commander'
import type { Command } from '@commander-js/extra-typings'

/**
 * Adds `complete`: it prints the script of a shell, and what the script asks for.
 *
 * The scripts of the library complete no value with a colon, as permissions have. In zsh a colon divides
 * a value from its description unless it has a backslash, which the script loses. In bash a word ends at
 * a colon, so what stands before the last one is there already.
 */
export function addCompletion(program: Command): void {
  // At run time this is commander's own class; only the types of options are stricter.
  tab(program as unknown as Parameters<typeof tab>[0])
  const { log } = console
  const complete = program.commands.find((command) => command.name() === 'complete')
  // The library prints by console.log alone.
  complete?.hook('preAction', () => {
    console.log = (text: string) => log(withColons(text))
  })
  complete?.hook('postAction', () => {
    console.log = log
  })
}

function withColons(script: string): string {
  return script
    .replace(/(comp=\$\{comp\/\/:\/)\\:/, '$1\\\\:')
    .replace(
      /^( *)COMPREPLY=\( \$\(compgen -W .*$/m,
      (line, indent) => `${line}\n${indent}__ltrim_colon_completions "$cur"`,
    )
}
