import { avatar } from '#src/pages/kit/avatar.ts'
import { columnChart, lineChart, statusStrip } from '#src/pages/kit/charts.ts'
import {
  badge,
  confirmation,
  confirmBox,
  emptyState,
  filterBar,
  pageHead,
  searchField,
  sidePanel,
  tabs,
  toast,
} from '#src/pages/kit/components.ts'
import {
  copyable,
  durationText,
  type Html,
  html,
  momentText,
  stats,
  timeText,
} from '#src/pages/kit/html.ts'
import { type IconName, icon } from '#src/pages/kit/icon.ts'
import { faultText, layout, type Page } from '#src/pages/kit/layout.ts'
import { choices, listTable } from '#src/pages/kit/list.ts'

const at = '2026-11-20T09:30:15.000Z'

/** Every component of the pages with sample content. It exists outside production only. */
export function designPage(): Page {
  return layout(
    'Design system',
    html`${pageHead({
      title: 'Design system',
      lead: 'Every component of the pages, with sample content. This page does not exist in production.',
      actions: html`${sidePanel('sample-panel', 'Open a side panel', 'A side panel', panelContent())} <a class="button" href="#forms">Primary action</a>`,
    })}
      ${tabs(
        'Sample tabs',
        [
          { href: '/app/design', label: 'Components' },
          { href: '/app/design#text', label: 'Text', count: 4 },
          { href: '/app/design#forms', label: 'Forms' },
        ],
        '/app/design',
      )}
      ${stats([
        { label: 'Delivered', value: '12,480', note: 'Last 24 hours' },
        { label: 'Success rate', value: '99.2 %', href: '/app/design' },
        { label: 'Retrying', value: 3, mood: 'warning' },
        { label: 'Failed', value: 1, note: '1 endpoint', mood: 'bad' },
      ])}
      ${tableSection()}
      ${section('empty', 'Empty state', emptyState('No endpoints yet. An endpoint receives the events of your tenant.', html`<a class="button" href="/app/design#forms">Add an endpoint</a>`))}
      <div class="columns">
        ${section('text', 'Text, times and badges', textContent())}
        ${section('tokens', 'Colours', colours())}
      </div>
      <div class="columns">
        ${section('forms', 'Forms and buttons', formContent())}
        ${section('code', 'Code and secrets', codeContent())}
      </div>
      <div class="columns">
        ${section('progress', 'Progress', progressContent())}
        ${section('notices', 'Notices and confirmation', noticeContent())}
      </div>
      ${section('charts', 'Charts', chartContent())}
      ${toast('Saved. This is a toast.')}`,
    { current: '', userId: null, email: 'ada@acme.example', role: 'admin', operator: true },
  )
}

function section(id: string, title: string, content: Html): Html {
  return html`<section class="card" aria-labelledby="${id}">
        <h2 id="${id}">${title}</h2>
        ${content}
      </section>`
}

function tableSection(): Html {
  const columns = [
    { label: 'Event', kind: 'wrap' },
    { label: 'Status' },
    { label: 'Duration', kind: 'number' },
    { label: 'Time' },
    { label: 'Remove', kind: 'actions' },
  ] as const
  const rows = (['good', 'warning', 'bad', 'plainly'] as const).map((mood, n) => [
    html`<a href="/app/design">invoice.created</a>`,
    badge(['Delivered', 'Retrying', 'Failed', 'Pending'][n] ?? '', mood),
    durationText(120 * (n + 1) ** 3),
    timeText(at),
    confirmation({
      label: 'Remove',
      name: `Remove sample ${n + 1}`,
      action: '/app/design',
      fields: confirmBox('Remove this sample. It cannot be undone.'),
      button: 'Remove',
    }),
  ])
  const filters = html`${searchField('Search events', '')}${choices('status', 'Status', 'All statuses', [{ value: 'failed', label: 'Failed' }], '')}`
  return section(
    'table',
    'Filter bar and table',
    html`${filterBar('/app/design', filters, false)}
        ${listTable(columns, rows, { path: '/app/design', nextCursor: 'older', previousCursor: null }, emptyState('No matching events.'))}`,
  )
}

function panelContent(): Html {
  return html`<p>Details beside a list, without leaving it. Escape closes the panel.</p>
            <dl class="facts"><div><dt>Event</dt><dd>invoice.created</dd></div><div><dt>Time</dt><dd>${momentText(at)}</dd></div></dl>`
}

function textContent(): Html {
  const names: readonly IconName[] = ['home', 'box', 'webhook', 'people', 'pulse', 'key', 'check']
  return html`<h3>A heading of the third rank</h3>
        <p>Body text with <a href="/app/design">a link</a>, <code>code</code> and <span class="quiet">less important text</span>.</p>
        <p>${timeText(at)}, to the second ${momentText(at)}</p>
        <p>${badge('Neutral')} ${badge('Good', 'good')} ${badge('Warning', 'warning')} ${badge('Bad', 'bad')} ${badge('Plain', 'plainly')}</p>
        <p class="inline">${names.map((name) => icon(name))}</p>
        <p class="inline">${['Ada Okafor', 'vera@acme.example', 'Ed', 'Grace', 'Zoë'].map((name) => avatar(name))}</p>`
}

function colours(): Html {
  const names = ['paper', 'card', 'raised', 'ink', 'quiet', 'line', 'edge', 'accent']
  const moods = ['good', 'warning', 'bad']
  return html`<ul class="swatches">${[...names, ...moods].map((name) => html`<li><span class="swatch swatch-${name}"></span>${name}</li>`)}</ul>`
}

function formContent(): Html {
  return html`<form class="form" method="get" action="/app/design">
          <div class="pair">
            <label>Name <input name="name" autocomplete="off" placeholder="What it is for"></label>
            <label>Role <select name="role"><option>viewer</option><option>editor</option></select></label>
          </div>
          <label>City <input name="city" value="" aria-invalid="true" aria-describedby="city-fault"><span class="fault" id="city-fault">Enter a city.</span></label>
          <label class="box"><input type="checkbox" name="box"> Send a copy</label>
          <div class="row"><button class="button">Primary</button> <button class="button plain">Secondary</button> <button class="button plain slim">Slim</button> <button class="button plain slim risky">Risky</button> <button class="button danger">Danger</button></div>
        </form>`
}

function codeContent(): Html {
  return html`${copyable('sample-code', 'Sample request', 'excerpt', 'curl https://app.example.com/invoices \\\n  -H "authorization: Bearer gth_…"')}
        ${copyable('sample-secret', 'Sample secret', 'secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')}`
}

function progressContent(): Html {
  return html`<div class="progress"><progress aria-label="Sample progress" max="100" value="62"></progress><p>62 of 100 deliveries scheduled</p></div>
        <ol class="timeline"><li>Attempt 1 <span class="quiet">503 after 120 ms</span></li><li>Attempt 2 <span class="quiet">200 after 80 ms</span></li></ol>`
}

function noticeContent(): Html {
  return html`<p class="notice">A notice in the flow of the page.</p>
        ${faultText('A fault: nothing was changed.')}
        ${confirmation({ label: 'Delete this sample', action: '/app/design', fields: confirmBox('Delete this sample. It cannot be undone.'), button: 'Delete' })}`
}

function chartContent(): Html {
  const hours = Array.from({ length: 24 }, (_, n) => `${String(n).padStart(2, '0')}:00`)
  const chart = {
    periods: hours,
    ticks: ['00:00', '12:00', '23:00'] as const,
    format: (value: number) => String(value),
  }
  const cells = hours.map((hour, n) => ({
    mood: n === 7 ? ('bad' as const) : n < 3 ? ('none' as const) : ('good' as const),
    words: `${hour}: sample`,
  }))
  return html`<div class="columns">
          ${columnChart({
            ...chart,
            id: 'sample-columns',
            title: 'Deliveries',
            series: [
              { name: 'Delivered', kind: 'good', values: hours.map((_, n) => (n * 7) % 19) },
              { name: 'Failed', kind: 'bad', values: hours.map((_, n) => (n % 6 === 0 ? 3 : 0)) },
            ],
          })}
          ${lineChart({
            ...chart,
            id: 'sample-lines',
            title: 'Duration',
            series: [
              { name: 'p50', kind: 'first', values: hours.map((_, n) => 40 + ((n * 11) % 17)) },
              { name: 'p95', kind: 'second', values: hours.map((_, n) => 90 + ((n * 13) % 41)) },
            ],
            format: (value) => `${value} ms`,
          })}
        </div>
        ${statusStrip('Sample of the last 24 hours', cells)}`
}
