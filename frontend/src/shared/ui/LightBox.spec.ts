// @vitest-environment jsdom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { i18n } from '@/i18n'
import { offerLightbox, type Lightbox } from '@/shared/lib/lightbox'
import { offerOpenFile } from '@/shared/lib/openFile'
import LightBox from './LightBox.vue'

afterEach(cleanup)
const picture = (name: string, path: string | null = null) => ({ url: `data:image/png;base64,${name}`, name, path })

function show() {
  let lightbox!: Lightbox
  const opened = vi.fn()
  const Page = defineComponent(() => {
    lightbox = offerLightbox()
    offerOpenFile(opened)
    return () => h(LightBox, { lightbox })
  })
  render(Page, { global: { plugins: [i18n] } })
  return { lightbox, opened }
}

it('goes through the pictures by keys, and closes', async () => {
  const { lightbox } = show()
  lightbox.show([picture('a'), picture('b')], 0)
  expect((await screen.findByRole('img')).getAttribute('alt')).toBe('a')
  expect(screen.getByRole('status').textContent).toBe('1 of 2')
  await userEvent.keyboard('{ArrowLeft}')
  expect(screen.getByRole('img').getAttribute('alt')).toBe('b')
  await userEvent.keyboard('{Escape}')
  await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
})
it('leads to the file, where it is one', async () => {
  const { lightbox, opened } = show()
  lightbox.show([picture('a', 'out/a.png')], 0)
  await userEvent.click(await screen.findByRole('button', { name: 'Show in the files' }))
  expect(opened).toHaveBeenCalledWith('out/a.png')
})
