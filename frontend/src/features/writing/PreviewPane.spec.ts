// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import PreviewPane from './PreviewPane.vue'

const reference = {
  ...{ key: 'lecun2015deep', record_id: 'rec_1', title: 'Deep learning', authors: ['Yann LeCun'], year: 2015 },
  ...{ venue: 'Nature', url: 'https://doi.org/10.1/a', is_retracted: false, is_imported: false },
}
const HTML =
  '<p onclick="x()" style="position:fixed">As <span class="citation" data-cites="lecun2015deep"><a href="#ref">LeCun' +
  '</a></span> <math><mi>x</mi></math></p><script>1</script><img src="/x"><a href="javascript:x()">y</a>' +
  '<img src="data:image/png;base64,AA==" style="width:50%" onerror="x()" alt="A plot"><img src="data:text/html,x">'

const router = createRouter({
  history: createMemoryHistory(),
  routes: [{ path: '/:rest(.*)*', component: PreviewPane }],
})
const show = (html: string) =>
  render(PreviewPane, {
    props: { bibliography: [reference], preview: () => Promise.resolve(html) },
    global: { plugins: [i18n, router] },
  })
afterEach(cleanup)

it('shows which paper a citation stands for, and runs nothing of what it is given', async () => {
  show(HTML)
  const link = await screen.findByText('LeCun')
  const shown = document.querySelector('.writing-preview')?.innerHTML ?? ''
  expect(shown).not.toMatch(/onclick|position|<script|javascript:|src="\/x|text\/html|onerror/)
  expect(screen.getByRole('img', { name: 'A plot' }).getAttribute('style')).toBe('width:50%')
  expect(shown).toContain('<math><mi>x</mi></math>')
  await userEvent.click(link)
  expect(await screen.findByText('Yann LeCun · 2015 · Nature')).toBeTruthy()
  expect(screen.getByText('Open in Papers').getAttribute('href')).toBe('/corpus?record=rec_1')
  await userEvent.keyboard('{Escape}')
  expect(screen.queryByText('Open in Papers')).toBeNull()
})

it('goes on telling of a citation that was pressed until something else is, also where it is no link', async () => {
  show('<p>As <span class="citation" data-cites="lecun2015deep">LeCun</span> says, <b>else</b></p>')
  const cited = await screen.findByText('LeCun')
  await userEvent.hover(cited)
  expect(screen.getByText('Open in Papers')).toBeTruthy()
  await userEvent.unhover(cited)
  await userEvent.click(cited)
  await userEvent.pointer({ target: document.body })
  expect(screen.getByText('Open in Papers')).toBeTruthy()
  await userEvent.click(screen.getByText('else'))
  expect(screen.queryByText('Open in Papers')).toBeNull()
})
it('says of what is cited but not in the bibliography that it is not', async () => {
  show('<p>As <span class="citation" data-cites="made2024up lecun2015deep"><a href="#r">they</a></span> say</p>')
  await userEvent.click(await screen.findByText('they'))
  expect(screen.getByRole('status').textContent).toContain('“made2024up” is not in the bibliography.')
  expect(screen.getByText('Yann LeCun · 2015 · Nature')).toBeTruthy()
})
