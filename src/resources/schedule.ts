import { CronExpressionParser } from 'cron-parser'

/** Why a text is no cron expression of five fields; null if it is one. */
export function scheduleFaultOf(schedule: string): string | null {
  if (schedule.trim().split(/\s+/).length !== 5) return 'it does not have five fields'
  try {
    nextTime(schedule, new Date())
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The first time of a schedule after another, in UTC. */
export function nextTime(schedule: string, after: Date): Date {
  return CronExpressionParser.parse(schedule, { currentDate: after, tz: 'UTC' }).next().toDate()
}
