import type { Component } from 'vue'

/** One thing to choose. */
export interface Entry {
  readonly id: string
  readonly label: string
  /** What stands below or beside it. */
  readonly detail?: string
  readonly icon: Component
  /** Other words that find it. */
  readonly words?: string
  readonly run: () => void | Promise<void>
}
export interface Section {
  readonly id: 'conversations' | 'messages' | 'actions' | 'files' | 'settings' | 'models'
  readonly entries: readonly Entry[]
}

/** All words of the text stand in it. */
export function isMeant(entry: Entry, text: string): boolean {
  const within = `${entry.label} ${entry.detail ?? ''} ${entry.words ?? ''}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word))
}

/** Those that are meant, the ones whose name begins so first. */
export function matching(entries: readonly Entry[], text: string, most: number): Entry[] {
  const found = entries.filter((entry) => isMeant(entry, text))
  const begins = ({ label }: Entry): number => Number(label.toLowerCase().startsWith(text.toLowerCase()))
  return found.sort((a, b) => begins(b) - begins(a)).slice(0, most)
}

/** A text in pieces, those of the words apart. */
export function marked(text: string, words: string): { text: string; isFound: boolean }[] {
  const wanted = words.trim().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return [{ text, isFound: false }]
  const pattern = new RegExp(`(${wanted.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'gi')
  return text.split(pattern).flatMap((piece, at) => (piece ? [{ text: piece, isFound: at % 2 === 1 }] : []))
}

/** What was written in Markdown, read in one line: links by their words, and without the signs of emphasis and code. */
export function withoutMarks(text: string): string {
  return text
    .replace(/(^…?|[.:!?*]\s)(?:#{1,6}|>)\s(?=\S)/g, '$1')
    .replace(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replace(/(?:>\s*)*```\w*(?:\s*>)*/g, ' ')
    .replace(/`/g, '')
    .replace(/(^|[\s(>…])\*{1,3}(?=\S)/g, '$1')
    .replace(/(\S)\*{1,3}(?=$|[\s.,;:!?)…。，；：！？）])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}
