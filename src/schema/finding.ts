/** A problem of the database and its remedy. */
export type Finding = {
  problem: string
  remedy: string
  /** Statements that the owner runs to repair it, in one transaction; none if it needs a decision. */
  repairs?: readonly string[]
}

/**
 * A finding that the owner's statements repair. Its remedy names the command that runs them, and
 * shows those that fit a line.
 * @param otherwise the remedy if no statement repairs it
 */
export function repairable(
  problem: string,
  repairs: readonly string[],
  otherwise: string,
): Finding {
  if (repairs.length === 0) return { problem, remedy: otherwise }
  const command = 'Restore it with `gatehouse migrate --repair` and DATABASE_OWNER_URL'
  const isShown = repairs.every((statement) => !statement.includes('\n'))
  const shown = isShown ? `, or as the owner of the tables with: ${repairs.join('; ')};` : '.'
  return { problem, remedy: `${command}${shown}`, repairs }
}
