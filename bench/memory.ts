import { startBinary, withBinary } from './binary.ts'
import { settingsOf } from './contender.ts'
import { placeOrders } from './orders.ts'
import type { Place } from './place.ts'
import { runLoad } from './processes.ts'
import type { Effort, Section } from './section.ts'

const connections = 32
const rounds = 5

const note = `\`dist/gatehouse serve\` while ${connections} connections read orders and ${connections} change them, each change with
an event. Resident memory at the end and its peak, with the
mapped pages of the file.`

/** The memory of a process that works. Limits are those of an installation, 1 MB = 10⁶ bytes. */
export async function measureMemory(place: Place, { seconds }: Effort): Promise<Section> {
  const requests = await placeOrders(place)
  const measured = await withBinary(async (installed) => [
    await measureRole(place, installed, 'web', requests, seconds * rounds),
    await measureRole(place, installed, 'all', requests, seconds * rounds),
  ])
  return {
    title: 'Memory under load',
    ratios: measured.map(({ role, peak }) => ({
      measure: `peak of resident memory with ROLE=${role}, MB`,
      value: peak.toFixed(0),
      goal: role === 'web' ? '≤ 210' : '≤ 273',
    })),
    measures: [
      ['ROLE', 'Peak, MB', 'At the end, MB', 'Its own, MB', 'Reads/s', 'Changes/s'],
      ...measured.map(({ role, ...numbers }) => [
        role,
        ...Object.values(numbers).map((number) => number.toFixed(0)),
      ]),
    ],
    isOneRun: true,
    note,
  }
}

async function measureRole(
  place: Place,
  installed: string,
  role: string,
  requests: Awaited<ReturnType<typeof placeOrders>>,
  seconds: number,
) {
  const running = await startBinary(installed, { ...settingsOf(place), ROLE: role })
  try {
    const target = { url: running.url, connections, seconds }
    const [reads, changes] = await Promise.all([
      runLoad({ ...target, requests: { reads: requests } }),
      runLoad({ ...target, requests: { changes: requests } }),
    ])
    const { peak, resident, own } = await running.memory()
    const [readsPerSecond, changesPerSecond] = [reads.perSecond, changes.perSecond]
    return { role, peak, resident, own, readsPerSecond, changesPerSecond }
  } finally {
    await running.stop()
  }
}
