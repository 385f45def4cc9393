import { isDeepStrictEqual } from 'node:util'
import { maxKept } from './connections/kept-statements.ts'
import type { RowAccess, Statement } from './connections/one-trip.ts'
import type { Place } from './connections/packet-pool.ts'
import { isPooled } from './connections/pool-options.ts'
import { Prisma } from './generated/client.ts'

/**
 * Runs a hand-written statement and resolves to its rows. Values become parameters, and fragments of
 * `Prisma.sql` part of the text. Columns have the driver's types: a 64-bit integer is a string.
 */
export type Sql = <Row extends object>(
  statement: TemplateStringsArray | Statement,
  ...values: readonly unknown[]
) => Promise<Row[]>

/** @param run sends one statement and resolves to its rows */
export function sqlOver(run: (statement: Statement) => Promise<unknown[]>): Sql {
  return async <Row extends object>(
    statement: TemplateStringsArray | Statement,
    ...values: readonly unknown[]
  ) => (await run('raw' in statement ? Prisma.sql(statement, ...values) : statement)) as Row[]
}

/**
 * One statement as the whole work of a transaction. It takes owner and tenant from the scope
 * (src/access/scope.ts), because it leaves before the program knows them.
 */
export type OneStatement<Facts, T> = {
  readonly statement: Statement
  /**
   * If set, this write may share packet and commit with others (`openPacketPool`). Names the tenant and
   * row that it locks; a packet locks in this order.
   */
  readonly place?: Place
  /** Statements after it in the same packet. */
  readonly further?: readonly Statement[]
  /** Makes the result from the rows, and those of each further statement. Called once the entry has decided. */
  read(rows: object[], facts: Facts, further?: object[][]): T
}

export function oneStatement<Row extends object, Facts, T>(
  statement: Statement,
  read: (rows: Row[], facts: Facts) => T,
): OneStatement<Facts, T> {
  return { statement, read: (rows, facts) => read(rows as Row[], facts) }
}

/** The statement with what it does with one row. */
export function ofRow({ text, values = [] }: Statement, row: RowAccess): Statement {
  return { text, values, row }
}

/** The statement, with another one for a cluster, which is composed only there. */
export function orOnCluster({ text, values }: Prisma.Sql, onCluster: () => Prisma.Sql): Statement {
  return { text, values, onCluster }
}

/**
 * A statement whose text is composed at its first use: for what requests do most, composing and hashing it
 * each time costs as much as reading the rows.
 * @param compose has the values as its parameters, in their order, and no others
 */
export function composeOnce<Values extends readonly unknown[]>(
  compose: (...values: Values) => Prisma.Sql,
): (...values: Values) => Prisma.Sql {
  let composed: Composition | undefined
  return (...values) => {
    composed ??= composeOf(compose(...values), values)
    return new Composed(composed, values)
  }
}

/**
 * `composeOnce` for a statement around another: it is composed once for each inner statement that is
 * composed once.
 * @param compose has the values as its parameters, in their order, then those of the inner statement
 */
export function composeAround<Values extends readonly unknown[]>(
  compose: (inner: Prisma.Sql, ...values: Values) => Prisma.Sql,
): (inner: Prisma.Sql, ...values: Values) => Prisma.Sql {
  const around = new WeakMap<readonly string[], Composition>()
  return (inner, ...given) => {
    const values = [...given, ...inner.values]
    let composed = around.get(inner.strings)
    if (composed?.strings.length !== values.length + 1) {
      composed = composeOf(compose(inner, ...given), values)
      around.set(inner.strings, composed)
    }
    return new Composed(composed, values)
  }
}

type Composition = { readonly strings: readonly string[]; readonly text: string }

function composeOf({ strings, text, values }: Prisma.Sql, expected: readonly unknown[]) {
  if (!isDeepStrictEqual(values, expected))
    throw new Error(`not the values in their order: ${text}`)
  return { strings, text }
}

class Composed extends Prisma.Sql {
  readonly #text: string

  constructor({ strings, text }: Composition, values: readonly unknown[]) {
    super([''], [])
    // Not copied: the array of strings identifies the statement (composeAround).
    Object.assign(this, { strings, values })
    this.#text = text
  }

  override get text(): string {
    return this.#text
  }
}

/**
 * A name for each text, so that a connection plans it once: under row-level security planning costs
 * more than running it. The texts used last have one, and no name is given twice: declared resources and
 * the filters of their lists make more texts than a connection should keep. Behind a pooler, where the next
 * transaction may run on another connection, every text has the empty name, which keeps no plan.
 */
export function nameStatements(url: string): (text: string) => string {
  if (isPooled(url)) return () => ''
  const names = new Map<string, string>()
  let given = 0
  return function nameOf(text) {
    const name = names.get(text) ?? `statement-${given++}`
    names.delete(text)
    names.set(text, name)
    if (names.size > maxKept) {
      const [oldest = ''] = names.keys()
      names.delete(oldest)
    }
    return name
  }
}
