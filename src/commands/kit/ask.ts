import { createInterface } from 'node:readline/promises'

/**
 * Asks the person at the terminal, on standard error, since the output of a command may be read by a script.
 * @returns the answer without blanks around it; null without a terminal
 */
export async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY) return null
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(`${question} `)).trim()
  } finally {
    lines.close()
  }
}
