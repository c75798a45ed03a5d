// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { defineComponent } from 'vue'
import { useUnsavedQuestion } from '@/shared/lib/unsaved'
import { useForm, type Refusal } from './useForm'

afterEach(cleanup)

/** A form of two fields, of which the second can be hidden, and the question before it is left. */
const Form = defineComponent({
  props: { refused: { type: Object, default: () => ({ text: '', at: '' }) }, busy: Boolean },
  emits: ['save', 'cancel'],
  setup(props, { emit }) {
    const { draft, wrong, other, passes, onEscape } = useForm({
      draft: { name: 'Anna', port: '22', isRemote: true },
      fields: (now) => ['name', ...(now.isRemote ? ['port' as const] : [])],
      refused: () => props.refused as Refusal,
      isBusy: () => props.busy,
      cancel: () => emit('cancel'),
    })
    const save = (): void => {
      const isFine = passes({ name: !draft.name && 'A name is missing.', port: draft.port === '0' && 'No such port.' })
      if (isFine) emit('save', { ...draft })
    }
    return { draft, wrong, other, save, onEscape, ...useUnsavedQuestion() }
  },
  template: `<form ref="root" @submit.prevent="save" @keydown.esc="onEscape">
    <input aria-label="Port" v-model="draft.port" :aria-invalid="!!wrong.port" /><p>{{ wrong.port }}</p>
    <input aria-label="Name" data-first v-model="draft.name" :aria-invalid="!!wrong.name" /><p>{{ wrong.name }}</p>
    <input aria-label="Remote" type="checkbox" v-model="draft.isRemote" />
    <p role="alert">{{ other }}</p><button>Save</button>
    <button v-if="isAsked" type="button" @click="discard">Discard</button>
  </form>`,
})
const show = (props: object = {}) => render(Form, { props })
const at = (name: string): HTMLElement => screen.getByLabelText(name)
const save = () => userEvent.click(screen.getByRole('button', { name: 'Save' }))

it('says what is wrong at each field, of which the first has the focus, and sends what is fine', async () => {
  const { emitted } = show()
  await userEvent.clear(at('Name'))
  await userEvent.clear(at('Port'))
  await userEvent.type(at('Port'), '0')
  await save()
  expect([screen.getByText('A name is missing.'), screen.getByText('No such port.')]).toHaveLength(2)
  expect(document.activeElement).toBe(at('Port'))
  expect(emitted()['save']).toBeUndefined()
  await userEvent.type(at('Port'), '1')
  await userEvent.type(at('Name'), 'Bert')
  await save()
  expect(emitted()['save']).toEqual([[{ name: 'Bert', port: '01', isRemote: true }]])
  expect(screen.queryByText('A name is missing.')).toBeNull()
})
it('has the focus in its first field once it is opened', async () => {
  const Host = { components: { Form }, props: { isOpen: Boolean }, template: '<div><Form v-if="isOpen" /></div>' }
  const { rerender } = render(Host)
  await rerender({ isOpen: true })
  expect(document.activeElement).toBe(at('Name'))
})
it('sends nothing again while it is being sent', async () => {
  const { emitted } = show({ busy: true })
  await save()
  expect(emitted()['save']).toBeUndefined()
})
it('says what the server refused at its field, as long as that is shown', async () => {
  const { rerender } = show()
  await rerender({ refused: { text: 'port: is taken', at: 'port' } })
  expect(screen.getByText('Is taken')).toBeTruthy()
  await expect.poll(() => document.activeElement).toBe(at('Port'))
  expect(screen.getByRole('alert').textContent).toBe('')
  await userEvent.click(at('Remote'))
  expect(screen.getByRole('alert').textContent).toBe('port: is taken')
  await rerender({ refused: { text: 'Try again later.', at: '' } })
  expect(screen.getByRole('alert').textContent).toBe('Try again later.')
})
it('is left at once where nothing was changed, and else once that may go', async () => {
  const { emitted } = show()
  await userEvent.click(at('Name'))
  await userEvent.keyboard('{Escape}')
  expect(emitted()['cancel']).toHaveLength(1)
  await userEvent.type(at('Name'), 'x')
  await userEvent.keyboard('{Escape}')
  expect(emitted()['cancel']).toHaveLength(1)
  await userEvent.click(screen.getByRole('button', { name: 'Discard' }))
  expect(emitted()['cancel']).toHaveLength(2)
})
