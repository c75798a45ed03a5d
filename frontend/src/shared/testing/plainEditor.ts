import { defineComponent, h } from 'vue'

/** In place of the editor of Markdown, which needs a layout that is only in a browser. */
export default defineComponent({
  props: { modelValue: String, label: String },
  emits: ['update:modelValue'],
  setup: (props, { emit }) => {
    const onInput = (event: Event): void => emit('update:modelValue', (event.target as HTMLTextAreaElement).value)
    return () => h('textarea', { 'aria-label': props.label, value: props.modelValue, onInput })
  },
})
