import { describe, expect, it } from 'vitest'
import type { Session } from '@/api/types'
import { attention, tabTitle } from './tabTitle'

const session = (id: string, fields: Partial<Session>): Session =>
  ({ id, status: 'idle', unread: 0, archived: false, ...fields }) as Session

describe('the tab', () => {
  it('counts what asks for the person elsewhere, and what works elsewhere', () => {
    const sessions = [
      session('shown', { unread: 3, status: 'running' }),
      session('a', { unread: 1 }),
      session('b', { status: 'waiting' }),
      session('c', { status: 'queued' }),
      session('d', { status: 'running', unread: 1 }),
      session('e', { unread: 9, archived: true }),
    ]
    expect(attention(sessions, 'shown')).toEqual({ count: 3, running: 2 })
  })
  it('says it in the title', () => {
    expect(tabTitle(2, ['Working', '', 'Deskmate'])).toBe('(2) Working · Deskmate')
    expect(tabTitle(0, ['', 'Green tea', 'Deskmate'])).toBe('Green tea · Deskmate')
  })
})
