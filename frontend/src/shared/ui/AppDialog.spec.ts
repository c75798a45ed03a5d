// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h, ref } from 'vue'
import { i18n } from '@/i18n'
import AppDialog from './AppDialog.vue'

afterEach(cleanup)

/** The dialog with this in it, and a row of pages where it has some. */
function show(inner: string, size: 'plain' | 'pages' = 'plain'): void {
  const Inner = defineComponent({ template: inner })
  const open = ref(true)
  const Page = defineComponent(() => () => h(AppDialog, { open: open.value, title: 'Otters', size }, () => h(Inner)))
  render(Page, { global: { plugins: [i18n] } })
}

it.each([
  ['its first field', '<p>Why</p><form><input aria-label="Name" /><button>Save</button></form>', 'Name'],
  ['the field that has the words of a message', '<textarea aria-label="Words"></textarea>', 'Words'],
  ['its first action', '<button disabled>Not now</button><button>Cancel</button><button>Delete</button>', 'Cancel'],
  ['its heading, where its first field is changed by a key', '<input type="checkbox" aria-label="Files" />', 'Otters'],
  ['its heading, where there is nothing to do', '<dl><dt>Send</dt></dl>', 'Otters'],
])('begins at %s', async (_, inner, named) => {
  show(inner)
  await screen.findByRole('dialog')
  await vi.waitFor(() => {
    const at = document.activeElement
    expect(at?.getAttribute('aria-label') ?? at?.textContent?.trim()).toBe(named)
  })
})
it('begins at the page that is shown', async () => {
  show('<button role="tab" aria-selected="false">A</button><button role="tab" aria-selected="true">B</button>', 'pages')
  await vi.waitFor(() => expect(document.activeElement?.textContent).toBe('B'))
})
