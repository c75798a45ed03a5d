import { expect, it } from 'vitest'
import { later } from '@/shared/testing/later'
import { createInAskedOrder } from './inAskedOrder'

it('shows each answer unless one to what was asked for later is shown', async () => {
  const shown: string[] = []
  const show = createInAskedOrder<string>((answer) => shown.push(answer))
  const answers = [later<string>(), later<string>(), later<string>()] as const
  const all = answers.map(({ promise }) => show(() => promise))
  answers[1].resolve('second')
  await all[1]
  answers[0].resolve('first')
  await all[0]
  answers[2].resolve('third')
  await all[2]
  expect(shown).toEqual(['second', 'third'])
})

it('throws what fails, and shows what was asked for before all the same', async () => {
  const shown: string[] = []
  const show = createInAskedOrder<string>((answer) => shown.push(answer))
  const first = later<string>()
  const asked = show(() => first.promise)
  await expect(show(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  first.resolve('first')
  await asked
  expect(shown).toEqual(['first'])
})
