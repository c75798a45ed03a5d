import { describe, expect, it } from 'vitest'
import type { Session } from '@/api/types'
import { noticesOf, statusesOf } from './notices'

const session = (id: string, status: Session['status']): Session => ({ id, status }) as Session
const told = (before: Session[], now: Session[]): string[] =>
  noticesOf(statusesOf(before), now).map(({ session: { id }, kind }) => `${id} ${kind}`)

describe('what is told of conversations', () => {
  it('is that a run waits, and that one ended', () => {
    const before = [session('a', 'running'), session('b', 'running'), session('c', 'queued'), session('d', 'waiting')]
    const now = [session('a', 'waiting'), session('b', 'idle'), session('c', 'running'), session('d', 'idle')]
    expect(told(before, now)).toEqual(['a waiting', 'b finished', 'd finished'])
  })
  it('is nothing of what is as it was, of what begins, and of what was not known', () => {
    const now = [session('a', 'waiting'), session('b', 'queued'), session('c', 'running'), session('new', 'waiting')]
    expect(told([session('a', 'waiting'), session('b', 'idle'), session('c', 'waiting')], now)).toEqual([])
  })
})
