// @vitest-environment happy-dom
import { EditorView } from '@codemirror/view'
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { citedAt, citedParts } from './citations'
import MarkdownEditor from './MarkdownEditor.vue'

afterEach(() => {
  cleanup()
  i18n.global.locale.value = 'en'
})

it('has the buttons of each change in the language of the page', async () => {
  i18n.global.setLocaleMessage('zh', { writing: { accept: '接受', reject: '拒绝' } } as never)
  i18n.global.locale.value = 'zh'
  const props = { modelValue: 'Neural nets learn.', original: 'Nets learn.', label: 'Text' }
  const { container } = render(MarkdownEditor, { props, global: { plugins: [i18n] } })
  const names = [...container.querySelectorAll('.cm-chunkButtons button')].map(({ textContent }) => textContent)
  expect(names).toEqual(['接受', '拒绝'])
})
it('tells what the text is with each change that is taken', async () => {
  const [original, modelValue] = ['One.\n\nTwo.\n\nThree.', '1.\n\nTwo.\n\n3.']
  const { container, emitted } = render(MarkdownEditor, {
    ...{ props: { modelValue, original, label: 'Text' }, global: { plugins: [i18n] } },
  })
  const take = () => fireEvent.mouseDown(container.querySelector('.cm-chunkButtons button[name=accept]')!)
  await take()
  await take()
  expect(emitted('taken')).toEqual([['1.\n\nTwo.\n\nThree.'], [modelValue]])
  expect(emitted('update:modelValue')).toBeUndefined()
})
it('puts a citation at the end where nobody has set a cursor yet', () => {
  const props = { modelValue: 'Nets learn', label: 'Text' }
  const { container } = render(
    {
      components: { MarkdownEditor },
      setup: () => ({ props }),
      template: '<MarkdownEditor ref="editor" v-bind="props" /><button @click="$refs.editor.insert(\'[@one]\')" />',
    },
    { global: { plugins: [i18n] } },
  )
  container.querySelector('button')?.click()
  expect(container.querySelector('.cm-content')?.textContent).toBe('Nets learn [@one]')
})
it('tells which paper a citation stands for once it is pressed', async () => {
  const paper = {
    ...{ key: 'lecun2015deep', record_id: 'rec_1', title: 'Deep learning', authors: ['Yann LeCun'], year: 2015 },
    ...{ venue: 'Nature', url: 'https://doi.org/10.1/a', is_retracted: false, is_imported: false },
  }
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/:a*', component: MarkdownEditor }] })
  const props = { modelValue: 'Nets learn [@lecun2015deep; @made2024up].', label: 'Text', bibliography: [paper] }
  const { container } = render(MarkdownEditor, { props, global: { plugins: [i18n, router] } })
  const view = EditorView.findFromDOM(container.querySelector<HTMLElement>('.cm-editor')!)!
  const press = async (anchor: number): Promise<void> => {
    view.dispatch({ selection: { anchor }, userEvent: 'select.pointer' })
    await nextTick()
  }
  await press(3)
  expect(screen.queryByRole('status')).toBeNull()
  await press(16)
  expect(container.querySelector('.cm-tooltip')?.textContent).toContain('Yann LeCun · 2015 · Nature')
  expect(screen.getByText('Open in Papers').getAttribute('href')).toBe('/corpus?record=rec_1')
  await press(33)
  expect(screen.getByRole('status').textContent).toBe('“made2024up” is not in the bibliography.')
  await fireEvent.keyDown(view.contentDOM, { key: 'Escape' })
  expect(screen.queryByRole('status')).toBeNull()
  await press(16)
  view.dispatch({ changes: { from: 0, insert: 'All ' } })
  await nextTick()
  expect(screen.queryByRole('status')).toBeNull()
})
it('tells it also of a citation in what the suggestion takes away', async () => {
  const props = { modelValue: 'Nets.', original: 'Nets learn [@made2024up].', label: 'Text', bibliography: [] }
  const { container } = render(MarkdownEditor, { props, global: { plugins: [i18n] } })
  const line = container.querySelector<HTMLElement>('.cm-deletedLine')!
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT)
  // A place in the text, as a browser tells it of the point that is pressed.
  let [at, offsetNode] = [line.textContent.indexOf('made'), texts.nextNode()!]
  while (at > offsetNode.textContent!.length)
    [at, offsetNode] = [at - offsetNode.textContent!.length, texts.nextNode()!]
  document.caretPositionFromPoint = () => ({ offsetNode, offset: at, getClientRect: () => null })
  await fireEvent.click(offsetNode.parentElement!)
  expect(screen.getByRole('status').textContent).toBe('“made2024up” is not in the bibliography.')
  Reflect.deleteProperty(document, 'caretPositionFromPoint')
})
it('finds a citation where it is checked, and nowhere else', () => {
  expect(citedAt('As [@a.b; @{c/d}]', 5)).toEqual({ key: 'a.b', from: 4 })
  expect(citedAt('As [@a.b; @{c/d}]', 14)).toEqual({ key: 'c/d', from: 10 })
  expect(citedAt('As [@a.b; @{c/d}]', 9)).toBeNull()
  expect(citedAt('me@example.org', 6)).toBeNull()
  expect(citedParts('[@a.b] me@b.c @{c/d}').map(({ text, key }) => [text, key])).toEqual([
    ...[
      ['[', null],
      ['@a.b', 'a.b'],
      ['] me@b.c ', null],
      ['@{c/d}', 'c/d'],
    ],
  ])
})
