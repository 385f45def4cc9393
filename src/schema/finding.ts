/** A problem of the database and its remedy. */
export type Finding = {
  problem: string
  remedy: string
  /** The table, or the signature of the function, that it is about. */
  object?: string
}

/** The remedy for whatever differs from the files of the release. */
export const migrateRemedy = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'

/** The remedy for a table that is as `migrate` left it, so that another run changes nothing. */
export const filesRemedy =
  'Add what is missing to its migration, its declaration or prisma/policies.sql (docs/new-resource.md), then run `gatehouse migrate` with DATABASE_OWNER_URL.'

/**
 * The remedy for what the newer release made so: its `migrate` finds nothing to do, and that of an older
 * release changes nothing.
 */
export function replaceRemedyOf(release: string): string {
  return `The database is of release ${release}, which made it so. Replace this process by one of that release (docs/upgrades.md).`
}

/** `migrate` of an older release changes nothing on the database of a newer one. */
export function migrateRemedyOf(release: string): string {
  return `The database is of release ${release}: run \`gatehouse migrate\` of that release with DATABASE_OWNER_URL.`
}
