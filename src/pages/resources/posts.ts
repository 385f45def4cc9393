import { permissionsOf } from '#src/access/roles.ts'
import { Line, Text } from '#src/http/schemas.ts'
import { confirmation, confirmBox, filterBar, pageHead } from '#src/pages/kit/components.ts'
import {
  area,
  folded,
  formOf,
  line,
  orEmpty,
  renderForm,
  submission,
  version,
} from '#src/pages/kit/form.ts'
import { type Html, html, isolated, timeText } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { listTable, type ShownList } from '#src/pages/kit/list.ts'

const postFields = { title: Line(200), body: Text(50_000), department: Line(100) }

export type ShownPost = {
  id: number
  authorId: number | null
  department: string | null
  title: string
  body: string
  createdAt: string
  updatedAt: string
}

const { title, body, department } = postFields
const texts = {
  title: line(title, 'Title'),
  body: area(body, 'Text', { attributes: { rows: 10 } }),
}

export const newPostForm = formOf({
  submission,
  ...texts,
  department: line(orEmpty(department), 'Department (optional)', {
    attributes: { placeholder: 'Yours' },
  }),
})
export const postForm = formOf({ version, ...texts })

const notices = {
  created: 'Post published.',
  changed: 'Saved.',
  deleted: 'Post deleted.',
} as const
export type PostNotice = keyof typeof notices

const columns = [
  { label: 'Title', kind: 'wrap' },
  { label: 'Department', kind: 'wrap' },
  { label: 'Last changed' },
] as const

export type PostListView = {
  viewer: Viewer
  posts: readonly ShownPost[]
  cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  department: string
  done: string | undefined
}

/** The posts of the tenant, newest first, and a form to write one. */
export function postListPage(view: PostListView): Page {
  const { viewer, posts, cursors, department } = view
  const rows = posts.map((post) => [
    html`<a href="/app/posts/${post.id}">${isolated(post.title)}</a>`,
    departmentText(post.department),
    timeText(post.updatedAt),
  ])
  const empty =
    department === ''
      ? html`<p>No posts yet.</p>`
      : html`<p>No posts of this department. <a href="/app/posts">Show all posts</a></p>`
  return layout(
    'Posts',
    html`${pageHead({ title: 'Posts', lead: 'Everybody in the tenant can read them.', ...(mayWrite(viewer) && { actions: html`<a class="button" href="#write">Write a post</a>` }) })}
      ${noticeText(notices, view.done)}
      <section class="card" aria-label="Posts">
        ${filterBar('/app/posts', html`<input name="department" value="${department}" maxlength="100" placeholder="Department" aria-label="Department" data-search>`, department !== '')}
        ${listTable(columns, rows, { path: '/app/posts', filter: { department }, ...cursors }, empty)}
      </section>
      ${mayWrite(viewer) ? newPostSection(viewer) : ''}`,
    { current: '/app/posts', ...viewer },
  )
}

function departmentText(department: string | null): Html {
  return department === null ? html`<span class="quiet">None</span>` : isolated(department)
}

function newPostSection(viewer: Viewer): Html {
  const form = renderForm(
    newPostForm,
    { viewer, action: '/app/posts' },
    ({ title, body, department }) =>
      html`${title}${body}${department}<button class="button">Publish post</button>`,
  )
  return html`<section class="card" aria-labelledby="write">
        <h2 id="write">Write a post</h2>
        ${form}
      </section>`
}

/** Whether an object changed after a form was rendered. @param version its `updatedAt` in the form */
export function isNewer(object: { updatedAt: string }, version: string | undefined): boolean {
  return version !== undefined && object.updatedAt !== version
}

/** Why an edit was not saved: it began with an older version. */
export function newerVersionText(kind: 'post' | 'document'): string {
  return `Somebody has changed this ${kind} in the meantime. Compare it with your text below, then save again.`
}

/** Browsers send the lines of a form with CR and LF. */
export function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

export type PostView = {
  viewer: Viewer
  post: ShownPost
  author: string
  done: string | undefined
}

/** One post, with forms to edit and delete it for those who may. */
export function postPage({ viewer, post, author, done }: PostView): Page {
  const { id, title, body, department } = post
  return layout(
    title,
    html`${pageHead({ trail: { href: '/app/posts', label: 'Posts' }, title: isolated(title), lead: html`Post ${id}, by ${isolated(author)}${department === null ? '' : html`, ${isolated(department)}`}, ${timeText(post.createdAt)}` })}
      ${noticeText(notices, done)}
      <section class="card text" aria-label="Text">${body}</section>
      ${mayWrite(viewer) ? editSection(post, viewer) : ''}
      ${permissionsOf(viewer.role).includes('post:delete') ? deleteSection(id) : ''}`,
    { current: '/app/posts', ...viewer },
  )
}

function mayWrite({ role }: Viewer): boolean {
  return permissionsOf(role).includes('post:write')
}

function editSection({ id, title, body, updatedAt }: ShownPost, viewer: Viewer): Html {
  const values = { title, body, version: updatedAt }
  const form = renderForm(
    postForm,
    { viewer, action: `/app/posts/${id}`, values },
    (inputs) => html`${inputs.title}${inputs.body}
            <p class="quiet small">Editors change posts of their own department, from 09:00 until before 17:00 UTC.</p>
            <button class="button">Save changes</button>`,
  )
  return html`<section class="card" aria-label="Edit">${folded('Edit post', form)}</section>`
}

function deleteSection(id: number): Html {
  return html`<section class="card" aria-label="Delete">
        ${confirmation({
          label: 'Delete post',
          action: `/app/posts/${id}/delete`,
          fields: confirmBox('Delete this post. This cannot be undone.'),
          button: 'Delete post',
        })}
      </section>`
}
