/** A problem of the database and its remedy. */
export type Finding = { problem: string; remedy: string }
