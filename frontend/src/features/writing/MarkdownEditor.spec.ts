// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { i18n } from '@/i18n'
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
