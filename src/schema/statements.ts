import { sha256 } from '#src/crypto/hash.ts'

export type Statement = {
  text: string
  /** The table or view that it is about; empty for any other, which can be repeated. */
  subject: string
}

/** What a statement of prisma/policies.sql or prisma/triggers.sql is about. */
const subjects = [
  /^CREATE POLICY \w+\s+ON (\w+)/,
  /^CREATE TRIGGER \w+\s[\s\S]*?\sON (\w+)/,
  /^CREATE OR REPLACE VIEW (\w+)/,
  /^ALTER TABLE (\w+)/,
  /^SELECT (?:count_table|fill_words)\('(\w+)'/,
]

/** Comments, quoted text and bodies, whose semicolons end no statement; and those that do. */
const tokens = /--[^\n]*|'(?:[^']|'')*'|\$\$[\s\S]*?\$\$|;/g

/** Divides a script into its statements, without the comments before them. */
export function statementsOf(script: string): Statement[] {
  const statements: Statement[] = []
  let start = 0
  for (const { 0: token, index } of script.matchAll(tokens)) {
    if (token !== ';') continue
    const text = script.slice(start, index + 1).replace(/^(\s+|--[^\n]*\n)*/, '')
    const match = subjects.map((form) => form.exec(text)).find((found) => found !== null)
    statements.push({ text, subject: match?.[1] ?? '' })
    start = index + 1
  }
  return statements
}

/** SHA-256 of the statements about each table or view, and of all others by the empty name. */
export function digestSubjects(scripts: readonly string[]): Readonly<Record<string, string>> {
  const texts = new Map<string, string>()
  for (const { subject, text } of scripts.flatMap(statementsOf)) {
    texts.set(subject, `${texts.get(subject) ?? ''}${text}\n`)
  }
  return Object.fromEntries([...texts].map(([name, text]) => [name, sha256(text).toString('hex')]))
}
