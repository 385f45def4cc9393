/** One thing that is wrong with the database, and what mends it. */
export type Finding = { problem: string; remedy: string }
