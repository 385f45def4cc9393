import { type Html, html, trusted } from './html.ts'

/** Outlines on a grid of 16 by 16. */
const outlines = {
  gate: 'M2.5 13.5V6l5.5-3.5L13.5 6v7.5M5.5 13.5V9a2.5 2.5 0 0 1 5 0v4.5M1.5 13.5h13',
  home: 'M2.5 7.5 8 2.8l5.5 4.7M4 6.5v6.7h8V6.5M6.7 13v-3.2h2.6V13',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  document: 'M4 1.8h5.2L12.3 5v9.2H4zM9 2v3.3h3.2M6 8.5h4.2M6 11h4.2',
  people:
    'M6 7.5a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8M1.6 13.3c.3-2.6 2-4 4.4-4s4.1 1.4 4.4 4M10.6 3a2.3 2.3 0 0 1 0 4.3M12 9.7c1.4.6 2.2 1.8 2.4 3.6',
  person:
    'M8 7.7a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2M3 13.5c.4-2.7 2.3-4.1 5-4.1s4.6 1.4 5 4.1',
  webhook:
    'M7 5.9 4.6 10.3M5.4 4.2a2.4 2.4 0 1 1 4.5 1.1l2.3 4M3.6 8.7a2.4 2.4 0 1 0 2.9 2.9h4.8M12.1 9.3a2.4 2.4 0 1 1-1.6 4',
  card: 'M1.8 4h12.4v8.4H1.8zM1.8 6.8h12.4M4.3 10h2.5',
  key: 'M5.5 10.5a3 3 0 1 0 0-.01M8.1 8.6 13.3 3.4M11.2 5.5l1.7 1.7',
  pulse: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  stack: 'M8 2 14 5 8 8 2 5zM2.4 8 8 10.8 13.6 8M2.4 11 8 13.8 13.6 11',
  box: 'M2.5 5 8 2l5.5 3v6L8 14l-5.5-3zM2.5 5 8 8l5.5-3M8 8v6',
  invoice: 'M3.5 1.8h9v12.4l-2.2-1.4L8 14.2l-2.3-1.4-2.2 1.4zM6 5.5h4M6 8.5h4',
  folder: 'M1.8 4V12.8h12.4V5.2H8L6.5 3.5H1.8z',
  clock: 'M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12M8 4.8V8l2.2 1.6',
  chevrons: 'm5 6.2 3-3 3 3M5 9.8l3 3 3-3',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.3 10.3 13.7 13.7',
  check: 'm3 8.5 3.3 3.3L13 4.8',
} as const

export type IconName = keyof typeof outlines

/** A line icon as decoration: the text beside it says what it means. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${trusted(outlines[name])}"/></svg>`
}
