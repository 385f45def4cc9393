/** A code block of a page and its file. */
type Block = { path: string; language: string; text: string }

/** The blocks below a line that begins with a path. */
export function blocksOf(page: string): Block[] {
  const labelled = /^`([^`\n]+)`[^\n]*\n\n```(\w+)\n([\s\S]*?)^```$/gm
  return [...page.matchAll(labelled)].map(([, path = '', language = '', text = '']) => ({
    path,
    language,
    text,
  }))
}
