/** What a job says of itself: ids and outcomes. */
export type JobLog = Record<'info' | 'warn' | 'error', (facts: object, message: string) => void>
