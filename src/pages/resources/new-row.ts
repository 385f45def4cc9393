import { plansPath } from '#src/access/policy.ts'
import { renderForm } from '#src/pages/kit/form.ts'
import { formPage } from '#src/pages/kit/form-page.ts'
import { type Html, html, isolated } from '#src/pages/kit/html.ts'
import type { Page, Viewer } from '#src/pages/kit/layout.ts'
import { creationOf, pagePathOf } from '#src/resources/kit/names.ts'
import { type Choices, type createFormOf, optionsOf, type Paged, placed } from './rows.ts'

/** A folder by its name and the name of its team. */
export type FolderChoice = { readonly id: number; readonly name: string; readonly team: string }

export type NewRowView = {
  readonly viewer: Viewer
  /** Folders in which the viewer can create a row of a chain. */
  readonly folders: readonly FolderChoice[]
  readonly choices: Choices
  /** What the form shows before anything is entered, by field. */
  readonly values: Readonly<Record<string, string>>
  /** Why the plan of the viewer has no place for a new row; null if it has. */
  readonly refusal: string | null
}

/** The form for a new row. */
export function newRowPage(
  resource: Paged,
  form: NonNullable<ReturnType<typeof createFormOf>>,
  view: NewRowView,
): Page {
  return formPage({
    viewer: view.viewer,
    list: { href: pagePathOf(resource), label: resource.page.label },
    heading: creationOf(resource).heading,
    content: contentOf(resource, form, view),
  })
}

/** The form, or why the viewer cannot create a row. */
function contentOf(
  resource: Paged,
  form: NonNullable<ReturnType<typeof createFormOf>>,
  { viewer, folders, choices, values, refusal }: NewRowView,
): Html {
  if (refusal !== null) {
    return html`<p>${refusal}</p><div class="row"><a class="button" href="${plansPath}">View the plans</a></div>`
  }
  if (resource.scope === 'chain' && folders.length === 0) {
    return html`<p>You are in no team with a folder, where it could be. A manager or admin can add you to a team.</p>`
  }
  const options = { folderId: folders.map(optionOf), ...optionsOf(resource, choices, {}) }
  return renderForm(
    form,
    { viewer, action: `${pagePathOf(resource)}/new`, values, options },
    (inputs) =>
      html`${placed(resource, resource.actions.create, viewer, inputs)}<button class="button">${creationOf(resource).button}</button>`,
  )
}

function optionOf({ id, name, team }: FolderChoice) {
  return [String(id), html`${isolated(name)} (${isolated(team)})`] as const
}
