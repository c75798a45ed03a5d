import { StateEffect, StateField, type EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, showTooltip, type Tooltip } from '@codemirror/view'

/** What stands for a paper in a text, as it is checked and exported. */
const CITED =
  /(?<![\p{L}\p{N}_@\\./])@(?:\{([^{}\s]{1,200})\}|([\p{L}\p{N}_](?:[:.#$%&+?<>~/-]?[\p{L}\p{N}_]){0,200}))/gu

/** The key of the paper that is cited at this place of the line, and where it begins. */
export function citedAt(line: string, at: number): { key: string; from: number } | null {
  for (const found of line.matchAll(CITED)) {
    if (at < found.index) return null
    if (at <= found.index + found[0].length) return { key: found[1] ?? found[2] ?? '', from: found.index }
  }
  return null
}

interface Cited {
  readonly key: string
  readonly tooltip: Tooltip
}
const closing = StateEffect.define()

/** Shows `card` above a citation once a person presses it or comes there by the arrow keys, and tells its key. */
export function citedCard(card: HTMLElement, tell: (key: string | null) => void): Extension {
  function look({ doc, selection }: EditorState, before: Cited | null): Cited | null {
    const { head, empty } = selection.main
    const line = doc.lineAt(head)
    const found = empty ? citedAt(line.text, head - line.from) : null
    if (!found) return null
    const pos = line.from + found.from
    if (before?.key === found.key && before.tooltip.pos === pos) return before
    const create = () => {
      const dom = document.createElement('div')
      dom.append(card)
      return { dom }
    }
    return { key: found.key, tooltip: { pos, above: true, create } }
  }
  const field = StateField.define<Cited | null>({
    create: () => null,
    update(shown, transaction) {
      if (transaction.docChanged || transaction.effects.some((effect) => effect.is(closing))) return null
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
