import { StateEffect, StateField, type EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, showTooltip, ViewPlugin, type Tooltip } from '@codemirror/view'
import { citedAt } from './citations'

interface Cited {
  readonly key: string
  readonly tooltip: Tooltip
}
const closing = StateEffect.define()
const showing = StateEffect.define<{ readonly key: string; readonly pos: number }>()

/** The citation that was pressed in a text that is not there any more, of which the editor knows no places. */
function citedInDeleted(event: MouseEvent): string | null {
  const line = event.target instanceof Element ? event.target.closest('.cm-deletedLine') : null
  if (!line || !('caretPositionFromPoint' in document)) return null
  const caret = document.caretPositionFromPoint(event.clientX, event.clientY)
  if (!caret || !line.contains(caret.offsetNode)) return null
  const before = document.createRange()
  before.setStart(line, 0)
  before.setEnd(caret.offsetNode, caret.offset)
  return citedAt(line.textContent, before.toString().length)?.key ?? null
}
const pressDeleted = ViewPlugin.define((view) => {
  // What the editor is told of presses leaves out those on parts that are not its text.
  function press(event: MouseEvent): void {
    const key = citedInDeleted(event)
    const chunk = key !== null && (event.target as Element).closest('.cm-deletedChunk')
    if (key === null || !chunk) return
    view.focus()
    view.dispatch({ effects: showing.of({ key, pos: view.posAtDOM(chunk) }) })
  }
  view.dom.addEventListener('click', press)
  return { destroy: () => view.dom.removeEventListener('click', press) }
})

/** Shows `card` above a citation once a person presses it or comes there by the arrow keys, and tells its key. */
export function citedCard(card: HTMLElement, tell: (key: string | null) => void): Extension {
  const create = () => {
    const dom = document.createElement('div')
    dom.append(card)
    return { dom }
  }
  const at = (key: string, pos: number): Cited => ({ key, tooltip: { pos, above: true, create } })
  function look({ doc, selection }: EditorState, before: Cited | null): Cited | null {
    const { head, empty } = selection.main
    const line = doc.lineAt(head)
    const found = empty ? citedAt(line.text, head - line.from) : null
    if (!found) return null
    const pos = line.from + found.from
    if (before?.key === found.key && before.tooltip.pos === pos) return before
    return at(found.key, pos)
  }
  const field = StateField.define<Cited | null>({
    create: () => null,
    update(shown, transaction) {
      if (transaction.docChanged || transaction.effects.some((effect) => effect.is(closing))) return null
      const pressed = transaction.effects.find((effect) => effect.is(showing))
      if (pressed) return at(pressed.value.key, pressed.value.pos)
      if (!transaction.selection) return shown
      return transaction.isUserEvent('select') ? look(transaction.state, shown) : null
    },
    provide: (of) => showTooltip.from(of, (shown) => shown?.tooltip ?? null),
  })
  function close(view: EditorView): boolean {
    if (!view.state.field(field)) return false
    view.dispatch({ effects: closing.of(null) })
    return true
  }
  return [
    field,
    pressDeleted,
    keymap.of([{ key: 'Escape', run: close }]),
    EditorView.updateListener.of(({ startState, state }) => {
      const key = state.field(field)?.key ?? null
      if (key !== (startState.field(field, false)?.key ?? null)) tell(key)
    }),
    EditorView.domEventHandlers({
      focusout: ({ relatedTarget }, view) => {
        if (!(relatedTarget instanceof Node && view.dom.contains(relatedTarget))) close(view)
      },
    }),
  ]
}
