// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { createShared } from './shared'
import SharedItemView from './SharedItemView.vue'
import SharePage from './SharePage.vue'
import { sharedItems, type SharedItem } from './sharedItems'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
const info = {
  ...{ title: 'Notes', mode: 'snapshot', include: [], created_at: '2026-11-28T10:00:00Z', expires_at: null },
  ...{ is_running: false, last_seq: 6, files: [{ path: 'notes.txt', size: 7 }] },
}

describe('what a stranger sees of a conversation', () => {
  const at = '2026-11-28T10:00:03Z'
  const user = (seq: number) => ({ seq, type: 'message.user', at, text: `said ${seq}`, attachments: [] })
  const cut = (seq: number, seen: number) => ({
    ...{ seq, type: 'message.completed', at, text: `cut ${seq}` },
    ...{ partial: true, seen_seq: seen },
  })
  const ended = (seq: number, status: string) => ({ seq, type: 'run.finished', at, status })
  it('has what was said meanwhile below the answer that it interrupted', () => {
    const called = { seq: 5, type: 'tool.called', at, call_id: 'c', name: 'n', arguments: {}, phrase: '', seen_seq: 1 }
    const result = { seq: 6, type: 'tool.finished', at, call_id: 'c', success: true, preview: 'done', body: null }
    const items = sharedItems([user(1), user(4), called, result, cut(7, 1), user(8), cut(9, 4), ended(10, 'stopped')])
    expect(items.map(({ id }) => id)).toEqual([1, 5, 7, 4, 9, 10, 8])
    expect(items.filter((item) => item.kind === 'answer' && item.isCut).map(({ id }) => id)).toEqual([7])
    expect(items[1]).toMatchObject({ output: 'done' })
  })
  it('counts what went along with a message and is not shared', () => {
    const [one, other] = sharedItems([{ ...user(1), files_left_out: 2 }, user(2)])
    expect([one, other]).toMatchObject([{ leftOut: 2, files: [] }, { leftOut: 0 }])
    const shared = createShared('l1', 'token')
    render(SharedItemView, { props: { item: one as SharedItem, shared }, global: { plugins: [i18n] } })
    expect(screen.getByText('2 files not shared')).toBeTruthy()
  })
  it('has nothing of a message that was taken back', () => {
    const named = { ...user(4), message_id: 'u4' }
    const items = sharedItems([user(1), named, { seq: 5, type: 'message.withdrawn', at, message_id: 'u4' }, cut(6, 1)])
    expect(items.map(({ id }) => id)).toEqual([1, 6])
  })
  it('has the end of a run above what it had not read, also where its work is left out', () => {
    const items = sharedItems([user(1), user(4), { ...ended(6, 'stopped'), seen_seq: 1 }])
    expect(items.map(({ id }) => id)).toEqual([1, 6, 4])
  })
  it('has the end of a run that had done nothing below what it was to do', () => {
    const items = sharedItems([user(1), cut(2, 1), ended(3, 'completed'), user(4), ended(5, 'stopped')])
    expect(items.map(({ id }) => id)).toEqual([1, 2, 4, 5])
  })
  it('says where it was interrupted, and that it was stopped', async () => {
    startFakeServer({
      'GET /shared/l1': () => json(info),
      'GET /shared/l1/events': () =>
        json({ items: [user(1), user(2), cut(3, 1), cut(4, 2), ended(5, 'stopped')], last_seq: 5, has_more: false }),
    })
    render(SharePage, { props: { id: 'l1' }, global: { plugins: [i18n] } })
    expect(await screen.findAllByText('Interrupted here')).toHaveLength(1)
    expect(screen.getByText('Stopped')).toBeTruthy()
  })
})
