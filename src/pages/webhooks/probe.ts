import { submissionField } from '#src/pages/kit/form-submission.ts'
import { durationText, type Html, html, table, timeText } from '#src/pages/kit/html.ts'
import { baseOf, formToken, type Viewer } from '#src/pages/kit/layout.ts'
import { type ProbeReport, probeEveryHours } from '#src/webhooks/probe/probe.ts'

const moods = { A: 'good', B: 'good', C: 'warning', D: 'warning', E: 'bad', F: 'bad' } as const

/**
 * The latest check of an endpoint's receiver, and a button for another one.
 * @param report null before the first check
 */
export function probeSection(viewer: Viewer, endpointId: string, report: ProbeReport | null): Html {
  const path = `${baseOf(viewer)}/webhooks/${endpointId}`
  return html`<section class="card" aria-labelledby="probe">
        <div class="headed">
          <h2 id="probe">Receiver check</h2>
          <form method="post" action="${path}/probe">${formToken(viewer)}${submissionField()}<button class="button plain slim">Check the receiver</button></form>
        </div>
        ${report === null ? html`<p class="quiet">Sends about twelve inert test deliveries, correct and incorrect, and grades from A to F how the receiver verifies them. Takes up to 25 seconds; at most every ${probeEveryHours} hours.</p>` : reportText(path, report)}
      </section>`
}

function reportText(path: string, report: ProbeReport): Html {
  const { grade, startedAt, faults, cases, profile, matchingProfile } = report
  const other =
    matchingProfile === null || matchingProfile === profile
      ? ''
      : html`<p>The receiver accepts the signature <b>${matchingProfile}</b>. Select it in the <a href="${path}/settings">settings</a>.</p>`
  const problems = faults.map(
    (fault) =>
      html`<li><p><span class="badge ${moods[fault.grade]}">${fault.grade}</span> ${fault.problem}</p><p class="quiet">${fault.remedy}</p></li>`,
  )
  return html`<p><span class="badge ${moods[grade]}">Grade ${grade}</span> <span class="quiet">checked ${timeText(startedAt)}</span></p>
        ${faults.length === 0 ? html`<p>The receiver accepts correct deliveries and refuses all others.</p>` : html`<ul class="plain-list">${problems}</ul>`}
        ${other}
        <details><summary>All ${cases.length} deliveries</summary>${table(columns, cases.map(caseRow))}</details>`
}

const columns = [
  { label: 'Delivery', kind: 'wrap' },
  { label: 'Expected' },
  { label: 'Result', kind: 'wrap' },
  { label: 'Duration', kind: 'number' },
] as const

function caseRow(one: ProbeReport['cases'][number]): Html[] {
  const { title, expected, accepted, statusCode, error, durationMs } = one
  const isRight = accepted === (expected === 'accept')
  const result = accepted === null ? 'not made in time' : (error ?? `status ${statusCode}`)
  return [
    html`${title}`,
    html`${expected === 'accept' ? 'accepted' : 'refused'}`,
    html`<span class="badge ${accepted === null ? 'plainly' : isRight ? 'good' : 'bad'}">${isRight ? 'As expected' : accepted === null ? 'Unknown' : 'Fault'}</span> ${result}`,
    html`${durationText(durationMs)}`,
  ]
}
