// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import mermaid from 'mermaid'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { i18n } from '@/i18n'
import { offerLightbox, type Lightbox } from '@/shared/lib/lightbox'
import DiagramBlock from './DiagramBlock.vue'

const { initialize, draw } = vi.hoisted(() => ({ initialize: vi.fn(), draw: vi.fn() }))
vi.mock('mermaid', () => ({ default: { initialize, render: draw } }))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
const show = (code: string) => render(DiagramBlock, { props: { code }, global: { plugins: [i18n] } })
const answer = (svg: string): void => void vi.mocked(mermaid.render).mockResolvedValue({ svg } as never)

it('draws a diagram once, strictly, as a picture of its own size', async () => {
  answer('<svg width="100%" viewBox="0 0 120 40.5"></svg>')
  show('graph TD; a-->b')
  const picture = await screen.findByRole('img')
  expect(decodeURIComponent(picture.getAttribute('src') ?? '')).toContain('height="41"')
  expect(initialize).toHaveBeenCalledWith(expect.objectContaining({ securityLevel: 'strict' }))
  cleanup()
  show('graph TD; a-->b')
  await screen.findByRole('img')
  expect(draw).toHaveBeenCalledTimes(1)
})
it('shows the source where that is wanted', async () => {
  answer('<svg viewBox="0 0 1 1"></svg>')
  show('graph TD; c-->d')
  await userEvent.click(await screen.findByRole('button', { name: 'Source' }))
  expect(screen.getByText('graph TD; c-->d')).toBeTruthy()
})
it('shows the source and the reason where it can not be drawn', async () => {
  vi.mocked(mermaid.render).mockRejectedValue(new Error('Parse error on line 1\nmore'))
  show('graph nonsense')
  expect(await screen.findByText('The diagram can’t be drawn: Parse error on line 1')).toBeTruthy()
  expect(screen.getByText('graph nonsense')).toBeTruthy()
})
it('waits with the drawing for a moment in which nothing else is done', async () => {
  answer('<svg viewBox="0 0 1 1"></svg>')
  draw.mockClear()
  const asked: (() => void)[] = []
  vi.stubGlobal('requestIdleCallback', (work: () => void) => asked.push(work))
  show('graph TD; idle-->b')
  await vi.waitFor(() => expect(asked).toHaveLength(1))
  asked.shift()?.()
  await vi.waitFor(() => expect(asked).toHaveLength(1))
  expect(draw).not.toHaveBeenCalled()
  asked.shift()?.()
  await screen.findByRole('img')
  expect(draw).toHaveBeenCalledTimes(1)
})
it('stands there at once where it was drawn before', async () => {
  answer('<svg viewBox="0 0 1 1"></svg>')
  show('graph TD; again-->b')
  await screen.findByRole('img')
  cleanup()
  show('graph TD; again-->b')
  expect(screen.getByRole('img')).toBeTruthy()
})
it('is shown large by its button and by a double press', async () => {
  answer('<svg viewBox="0 0 1 1"></svg>')
  let lightbox!: Lightbox
  const Page = defineComponent(() => {
    lightbox = offerLightbox()
    return () => h(DiagramBlock, { code: 'graph TD; large-->b' })
  })
  render(Page, { global: { plugins: [i18n] } })
  await userEvent.click(await screen.findByRole('button', { name: 'Enlarge: Diagram' }))
  expect(lightbox.shown.value?.pictures[0]?.name).toBe('Diagram')
  lightbox.close()
  await fireEvent.dblClick(screen.getByRole('img'))
  expect(lightbox.shown.value).not.toBeNull()
})
