import type { PresetInfo } from '@/api/types'

/** A preset with a computer, all tools and no options, but for `fields`. */
export function aPreset(id: string, fields: Partial<PresetInfo> = {}): PresetInfo {
  return {
    id,
    label: id.charAt(0).toUpperCase() + id.slice(1),
    description: `What ${id} is for.`,
    suggestions: [{ title: `Begin ${id}`, text: `Do ${id}` }],
    is_default: false,
    has_computer: true,
    tools: null,
    model: null,
    options: {},
    translations: {},
    ...fields,
  }
}
