import { untilSuccess } from '#src/runtime/lazy.ts'
import { type Migration, readMigrations } from './history.ts'

/** What the migrations make of everything that the verification checks, as statements by name. */
export type Definitions = {
  tables: ReadonlyMap<string, TableDefinition>
  /** CREATE OR REPLACE VIEW. */
  views: ReadonlyMap<string, string>
  /** CREATE OR REPLACE FUNCTION, by name without arguments. */
  functions: ReadonlyMap<string, string>
}

type TableDefinition = {
  enabled: boolean
  forced: boolean
  /** CREATE POLICY by the name of the policy. */
  policies: ReadonlyMap<string, string>
}

/** The definitions of this program's own migrations. */
export const readDefinitions = untilSuccess(async () => parseDefinitions(await readMigrations()))

type MutableTable = { enabled: boolean; forced: boolean; policies: Map<string, string> }

/** Reads the definitions that are in force after the last of the migrations, oldest first. */
export function parseDefinitions(migrations: readonly Migration[]): Definitions {
  const tables = new Map<string, MutableTable>()
  const views = new Map<string, string>()
  const functions = new Map<string, string>()
  const tableOf = (name: string): MutableTable => {
    const table = tables.get(name) ?? { enabled: false, forced: false, policies: new Map() }
    tables.set(name, table)
    return table
  }
  // The first form that matches is applied; all other statements concern something else.
  const forms: readonly [RegExp, (statement: string, ...names: string[]) => void][] = [
    [
      /^CREATE POLICY "?(\w+)"? ON "?(\w+)"?/,
      (statement, policy, table) => tableOf(table).policies.set(policy, oneLine(statement)),
    ],
    [
      /^DROP POLICY (?:IF EXISTS )?"?(\w+)"? ON "?(\w+)"?/,
      (_, policy, table) => tableOf(table).policies.delete(policy),
    ],
    [
      /^ALTER TABLE "?(\w+)"? ((?:NO )?(?:ENABLE|DISABLE|FORCE) ROW LEVEL SECURITY.*)$/s,
      (_, table, flags) => setFlags(tableOf(table), flags),
    ],
    [/^DROP TABLE (?:IF EXISTS )?"?(\w+)"?/, (_, table) => tables.delete(table)],
    [
      /^CREATE (?:OR REPLACE )?VIEW "?(\w+)"?/,
      (statement, view) => views.set(view, oneLine(orReplace(statement))),
    ],
    [/^DROP VIEW (?:IF EXISTS )?"?(\w+)"?/, (_, view) => views.delete(view)],
    [
      /^CREATE (?:OR REPLACE )?FUNCTION (?:public\.)?"?(\w+)"?/,
      (statement, name) => functions.set(name, orReplace(statement)),
    ],
    [/^DROP FUNCTION (?:IF EXISTS )?(?:public\.)?"?(\w+)"?/, (_, name) => functions.delete(name)],
  ]
  for (const statement of migrations.flatMap(({ sql }) => splitStatements(sql))) {
    for (const [form, apply] of forms) {
      const [, ...names] = form.exec(statement) ?? []
      if (names.length === 0) continue
      apply(statement, ...names)
      break
    }
  }
  return { tables, views, functions }
}

function setFlags(table: MutableTable, flags: string): void {
  if (/\bENABLE /.test(flags)) table.enabled = true
  if (/\bDISABLE /.test(flags)) table.enabled = false
  if (/\bFORCE /.test(flags)) table.forced = !/\bNO FORCE /.test(flags)
}

function orReplace(statement: string): string {
  return statement.replace(/^CREATE (?:OR REPLACE )?/, 'CREATE OR REPLACE ')
}

/** For policies and views, whose texts have no line comments and no significant white space. */
function oneLine(statement: string): string {
  return statement.replaceAll(/\s+/g, ' ')
}

// A comment, a string, a quoted name, a dollar-quoted body, the end of a statement, anything else.
const token = /--[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[\s\S]/g

/** The statements of a script, without the comments between and in them. Bodies stay as they are. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = []
  let current = ''
  for (const [text] of sql.matchAll(token)) {
    // Statements within BEGIN ATOMIC … END belong to one function.
    if (text === ';' && (!current.includes('BEGIN ATOMIC') || /\bEND\s*$/.test(current))) {
      statements.push(current.trim())
      current = ''
    } else if (!text.startsWith('--')) current += text
  }
  return [...statements, current.trim()].filter((statement) => statement !== '')
}
