// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import type { CorpusRecord } from '@/api/types'
import { i18n } from '@/i18n'
import { offerRecords } from '@/shared/lib/records'
import { renderBlock } from '@/shared/lib/render'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import MarkdownText from '@/shared/ui/MarkdownText.vue'
import { forgetRecord, shortName, withTitles } from './records'
import { loadRecordChip } from '.'

let made = 0
const newId = (): string => `rec_${(made += 1).toString(16).padStart(32, '0')}`
const aRecord = (id: string, fields: Partial<CorpusRecord> = {}) =>
  ({
    ...{ id, title: 'Deep learning', authors: ['Yann LeCun', 'Yoshua Bengio'], year: 2015, venue: 'Nature' },
    ...{ doi: '10.1038/nature14539', url: 'https://doi.org/10.1038/nature14539', is_retracted: false, ...fields },
  }) as CorpusRecord

/** A server that keeps these, and an answer in a conversation that may be written on. */
function show(text: string, kept: readonly CorpusRecord[], finished = true, fails = () => false) {
  const server = startFakeServer({
    'GET /corpus': ({ path }) => {
      if (fails()) return problem(503, 'unavailable')
      const ids = new URL(path, 'http://x').searchParams.getAll('id')
      return json({ is_enabled: true, items: kept.filter(({ id }) => ids.includes(id)), total: 1, next_cursor: null })
    },
  })
  const open = vi.fn()
  const Page = defineComponent({
    props: { text: { type: String, required: true }, finished: Boolean },
    setup(props) {
      offerRecords({ load: loadRecordChip, open })
      return () => h(MarkdownText, { text: props.text, finished: props.finished })
    },
  })
  const page = render(Page, { props: { text, finished }, global: { plugins: [i18n] } })
  return { ...page, open, server }
}
beforeAll(async () => void (await loadRecordChip()), 60_000)
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

describe('records that an answer names', () => {
  it('are shown by author and year, asked for together, and open in Papers', async () => {
    const [one, two] = [newId(), newId()]
    const kept = [aRecord(one), aRecord(two, { title: 'Of trees', authors: ['王小明'], year: null, doi: '', url: '' })]
    const { open, server, container } = show(`It learns [${one}, abstract; \`${two}\`, p. 2].\n\n- also ${one}`, kept)
    const chips = await screen.findAllByRole('button', { name: /Open in Papers$/ })
    expect(chips.map(({ textContent }) => textContent.trim())).toEqual(['LeCun 2015', '王小明', 'LeCun 2015'])
    expect(container.textContent).toMatch(/\[\s*LeCun 2015\s*, abstract;\s*王小明\s*, p\. 2\]/)
    expect(server.calls.map(({ path }) => path)).toEqual([`/corpus?limit=2&id=${one}&id=${two}`])
    await userEvent.click(chips[1]!)
    expect(open).toHaveBeenCalledWith(two)
    chips[0]!.focus()
    const doi = await screen.findByRole('link', { name: '10.1038/nature14539' })
    expect(doi.getAttribute('href')).toBe('https://doi.org/10.1038/nature14539')
    expect(await screen.findByText('Yann LeCun, Yoshua Bengio · 2015 · Nature')).toBeTruthy()
    expect(withTitles(`see ${one}`)).toBe('see Deep learning, 2015, https://doi.org/10.1038/nature14539')
    forgetRecord(one)
    await vi.waitFor(() => expect(screen.getAllByTitle('Not in your papers')).toHaveLength(2))
    expect(withTitles(`see ${one}`)).toBe(`see ${one}`)
  })
  it('stay as they are written where they are not kept, or that can’t be told', async () => {
    const [gone, untold] = [newId(), newId()]
    show(`Says ${gone}.`, [])
    expect((await screen.findByTitle('Not in your papers')).textContent).toBe(gone)
    cleanup()
    let isAway = true
    const { server } = show(`Says ${untold}.`, [aRecord(untold)], true, () => isAway)
    await vi.waitFor(() => expect(server.calls.length).toBeGreaterThan(0))
    expect(screen.queryByTitle('Not in your papers')).toBeNull()
    cleanup()
    isAway = false
    await vi.waitFor(async () => {
      cleanup()
      show(`Says ${untold}.`, [aRecord(untold)])
      expect(await screen.findByRole('button', { name: /^LeCun 2015/ })).toBeTruthy()
    })
  })
  it('are not asked for while the answer is being written, and come once it is finished', async () => {
    const id = newId()
    const { rerender, server, container } = show(`It learns [${id}`, [aRecord(id)], false)
    await rerender({ text: `It learns [${id}, abstract]`, finished: false })
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect([server.calls, container.textContent.includes(id)]).toEqual([[], true])
    await rerender({ text: `It learns [${id}, abstract]`, finished: true })
    expect(await screen.findByRole('button', { name: /^LeCun 2015/ })).toBeTruthy()
    expect(server.calls).toHaveLength(1)
  })
  it('are no chips in code, links, or what a person decides about', () => {
    const id = newId()
    expect(renderBlock(`see ${id}`)).toContain(`<span data-record="${id}">`)
    expect(renderBlock(`\`get ${id}\``)).not.toContain('data-record')
    expect(renderBlock(`[${id}](https://a.example)`)).not.toContain('data-record')
    expect(renderBlock(`x${id}`)).not.toContain('data-record')
    expect(renderBlock(`${id}0`)).not.toContain('data-record')
    expect(renderBlock(`see ${id}`, { isWrittenOut: true })).not.toContain('data-record')
    expect(renderBlock('<span data-record="rec_1">x</span>')).not.toContain('<span')
  })
})
it('names a record shortly', () => {
  const of = (fields: Partial<CorpusRecord>): string => shortName(aRecord('rec_1', fields))
  expect(of({ authors: ['van Dijk, Anna'] })).toBe('van Dijk 2015')
  expect(of({ authors: [], title: 'On trees' })).toBe('On trees 2015')
})
