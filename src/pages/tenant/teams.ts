import Type from 'typebox'
import { IdParams } from '#src/http/schemas.ts'
import { confirmation, pageHead } from '#src/pages/kit/components.ts'
import { choice, formOf, line, renderForm, submission } from '#src/pages/kit/form.ts'
import { formPage } from '#src/pages/kit/form-page.ts'
import { type Html, html, isolated } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { folderName } from '#src/teams/folders.ts'
import { teamName } from '#src/teams/teams.ts'

export type ShownTeam = {
  id: number
  name: string
  members: readonly { id: number; name: string }[]
  folders: readonly ShownFolder[]
}

type ShownFolder = { id: number; name: string; parentId: number | null }

export type TeamsView = {
  viewer: Viewer
  teams: readonly ShownTeam[]
  /** Members of the tenant, to choose from. */
  people: readonly { id: number; name: string }[]
  /** True if the tenant has more teams, folders or people than the page shows. */
  isCut: boolean
  done: string | undefined
}

const notices = {
  'team-created': 'Team created.',
  'team-deleted': 'Team deleted.',
  'member-added': 'Added. They can read and change the team’s documents now.',
  'member-removed': 'Removed. Their access to the team’s documents has ended.',
  'folder-created': 'Folder created.',
  'folder-deleted': 'Folder deleted.',
} as const
export type TeamNotice = keyof typeof notices

const path = '/app/teams'
const lead = 'Only the members of a team can open the documents in its folders.'
const Id = IdParams.properties.id

export const teamForm = formOf({
  submission,
  name: line(teamName, 'Name'),
})
export const folderForm = formOf({
  submission,
  name: line(folderName, 'Name of a new folder', { attributes: { placeholder: 'New folder' } }),
  parentId: choice(Type.Union([Id, Type.Literal('')]), 'Place of the new folder'),
})
export const memberForm = formOf({ userId: choice(Id, 'Member') })

/** Teams with their members and folders, for those who manage the tenant. */
export function teamsPage({ viewer, teams, people, isCut, done }: TeamsView): Page {
  return layout(
    'Teams',
    html`${pageHead({ title: 'Teams and folders', lead, actions: html`<a class="button" href="${path}/new">Create a team</a>` })}
      ${noticeText(notices, done)}
      ${isCut ? html`<p class="notice">Not everything is shown: the tenant has more teams, folders or members than fit here. Use the API for the rest.</p>` : ''}
      ${teams.length === 0 ? html`<section class="card"><p class="quiet">No teams yet.</p></section>` : html`<div class="columns">${teams.map((team) => teamSection(team, people, viewer))}</div>`}`,
    { current: path, ...viewer },
  )
}

/** The form that creates a team. */
export function newTeamPage(viewer: Viewer): Page {
  return formPage({
    viewer,
    list: { href: path, label: 'Teams' },
    heading: 'Create a team',
    lead,
    content: renderForm(
      teamForm,
      { viewer, action: `${path}/new` },
      ({ name }) => html`${name}<button class="button">Create team</button>`,
    ),
  })
}

function teamSection(team: ShownTeam, people: TeamsView['people'], viewer: Viewer): Html {
  const { id, name, members, folders } = team
  const others = people.filter((one) => members.every((member) => member.id !== one.id))
  const rows = members.map(
    (member) =>
      html`<li class="headed"><span class="wrap">${isolated(member.name)}</span>${removeForm(team, member)}</li>`,
  )
  return html`<section class="card" aria-labelledby="team-${id}">
        <h2 id="team-${id}" class="wrap">${isolated(name)}</h2>
        <h3>Members</h3>
        ${rows.length === 0 ? html`<p class="quiet">No members yet.</p>` : html`<ul class="plain">${rows}</ul>`}
        ${others.length === 0 ? '' : addForm(team, others, viewer)}
        <h3>Folders</h3>
        ${folders.length === 0 ? html`<p class="quiet">No folders yet.</p>` : folderTree(folders, null)}
        ${newFolderForm(team, viewer)}
        ${folders.length === 0 ? confirmation({ label: 'Delete team', name: `Delete the team ${name}`, action: `/app/teams/${id}/delete`, fields: html`<p>Its members lose access to its documents.</p>`, button: 'Delete team' }) : ''}
      </section>`
}

function removeForm({ id, name }: ShownTeam, member: ShownTeam['members'][number]): Html {
  return confirmation({
    label: 'Remove',
    name: `Remove ${member.name} from ${name}`,
    action: `/app/teams/${id}/members/remove`,
    fields: html`<input type="hidden" name="userId" value="${member.id}">
                <p>They lose access to the documents of this team.</p>`,
    button: 'Remove',
  })
}

function addForm({ id, name }: ShownTeam, others: TeamsView['people'], viewer: Viewer): Html {
  const options = { userId: others.map((one) => [String(one.id), one.name] as const) }
  const labels = { userId: `Member to add to ${name}` }
  return renderForm(
    memberForm,
    { viewer, action: `/app/teams/${id}/members`, inline: true, options, labels },
    ({ userId }) =>
      html`${userId}<button class="button plain slim" aria-label="Add the member to ${name}">Add</button>`,
  )
}

function newFolderForm({ id, name, folders }: ShownTeam, viewer: Viewer): Html {
  const places = folders.map((one) => [String(one.id), `in ${one.name}`] as const)
  return renderForm(
    folderForm,
    {
      ...{ viewer, action: `/app/teams/${id}/folders`, inline: true },
      options: { parentId: [['', 'at the top'], ...places] },
      labels: {
        name: `Name of a new folder of ${name}`,
        parentId: `Place of the new folder of ${name}`,
      },
    },
    (inputs) =>
      html`${inputs.name}${folders.length === 0 ? html`<input type="hidden" name="parentId" value="">` : inputs.parentId}<button class="button plain slim" aria-label="Create a folder of ${name}">Create</button>`,
  )
}

/** Folders below a folder, or at the top with null. Those without folders can be deleted. */
function folderTree(folders: readonly ShownFolder[], parentId: number | null): Html {
  const here = folders.filter((folder) => folder.parentId === parentId)
  if (here.length === 0) return html``
  const items = here.map(({ id, name }) => {
    const below = folderTree(folders, id)
    const isEmpty = below.markup === ''
    return html`<li><div class="headed"><span class="wrap">${isolated(name)}</span>${isEmpty ? deleteForm({ id, name }) : ''}</div>${below}</li>`
  })
  return html`<ul class="tree">${items}</ul>`
}

function deleteForm({ id, name }: Pick<ShownFolder, 'id' | 'name'>): Html {
  return confirmation({
    label: 'Delete',
    name: `Delete the folder ${name}`,
    action: `/app/folders/${id}/delete`,
    fields: html`<p>A folder with documents is not deleted.</p>`,
    button: 'Delete',
  })
}
