import Type from 'typebox'
import { Line } from '#src/http/schemas.ts'
import { formOf, hidden, line, renderForm } from '#src/pages/kit/form.ts'
import { html } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'

/** A path of our own; it is used only if a sign-in may return to it. */
export const ReturnPath = Type.String({ maxLength: 2_000 })

export const welcomeForm = formOf({
  name: line(Line(200), 'Name of the tenant', { required: true }),
  return_to: hidden(ReturnPath),
})

/** The page that asks for the name of a new person's tenant, before the page that they wanted. */
export function welcomePath(returnTo: string): string {
  return `/app/welcome?${new URLSearchParams({ return_to: returnTo })}`
}

export type WelcomeView = {
  viewer: Viewer
  /** The present name of the tenant. */
  name: string
  /** Where the person was going. */
  returnTo: string
}

/** Asks for the name of the tenant after the first sign-in. It can be skipped. */
export function namePage({ viewer, name, returnTo }: WelcomeView): Page {
  const form = renderForm(
    welcomeForm,
    { viewer, action: '/app/welcome', values: { name, return_to: returnTo } },
    (inputs) => html`${inputs.name}
          <div class="row"><button class="button">Save and continue</button><a class="button plain" href="${returnTo}">Skip</a></div>`,
  )
  return layout(
    'Welcome',
    html`<section class="card narrow">
        <h1>Name your tenant</h1>
        <p class="quiet">Your tenant is the place for your team: its members, what they create, and its webhooks. The people you invite see its name. You can change it later under Members.</p>
        ${form}
      </section>`,
    { current: '', ...viewer },
  )
}
