import type MarkdownIt from 'markdown-it'

const TASK = /^\[([ xX])\]\s+(?=\S)/
const PLACE = /<span data-task="(open|done)"><\/span>/g

/** Items of lists that begin with `[ ]` or `[x]` are open and done ones; each has a place for its checkbox. */
export function withTaskLists(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.core.ruler.before('inline', 'task_lists', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const item = tokens[index - 2]
      const task = token.type === 'inline' ? TASK.exec(token.content) : null
      if (!task || item?.type !== 'list_item_open' || tokens[index - 1]?.type !== 'paragraph_open') continue
      token.content = token.content.slice(task[0].length)
      item.meta = { task: task[1] === ' ' ? 'open' : 'done' }
      item.attrJoin('class', 'task')
    }
  })
  markdown.renderer.rules['list_item_open'] = (tokens, index, options, _env, renderer) => {
    const { task } = (tokens[index]?.meta ?? {}) as { task?: string }
    return renderer.renderToken(tokens, index, options) + (task ? `<span data-task="${task}"></span>` : '')
  }
}

/** Checkboxes in their places; no text can look like a place, as its quotes are written otherwise. */
export function withCheckboxes(html: string): string {
  return html.replace(
    PLACE,
    (_place, task: string) => `<input type="checkbox" disabled=""${task === 'done' ? ' checked=""' : ''}>`,
  )
}
