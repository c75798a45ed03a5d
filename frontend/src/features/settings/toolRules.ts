import type { OptionsBody, ToolInfo } from '@/api/types'

export type ToolRule = 'usual' | 'allowed' | 'asked' | 'denied'
const FIELDS = { denied: 'denied_tools', asked: 'asked_tools', allowed: 'allowed_tools' } as const
type Field = (typeof FIELDS)[keyof typeof FIELDS]
/** Names and globs of tools; what is missing or null is as the server has it. */
export type RuleLists = Pick<OptionsBody, Field>
const RULES = Object.keys(FIELDS) as (keyof typeof FIELDS)[]

/** Whether one of the rules names the tool: `*` stands for any characters and `?` for one. */
export function isNamed(name: string, rules: readonly string[] | null | undefined): boolean {
  return (rules ?? []).some((rule) => matches(name, rule))
}

/** Of more characters no command can be allowed, as a rule has no more. */
const MOST_OF_RULE = 200
/** The rule that lets exactly this command of a tool run without being asked for; null where there can be none. */
export function commandRule(name: string, given: Readonly<Record<string, unknown>>): string | null {
  const { command } = given
  const rule = typeof command === 'string' ? `${name}(${command})` : ''
  return rule !== '' && [...rule].length <= MOST_OF_RULE ? rule : null
}
/** The tool and the command of such a rule; null for a rule of tools. */
export function commandOf(rule: string): { tool: string; command: string } | null {
  const at = rule.indexOf('(')
  return at > 0 && rule.endsWith(')') ? { tool: rule.slice(0, at), command: rule.slice(at + 1, -1) } : null
}

/** Whether one of the rules names all that this one does; false also where that is hard to tell. */
export function covers(rules: readonly string[], rule: string): boolean {
  const globs = rules.filter((one) => !one.includes('?') && commandOf(one) === null)
  return rules.includes(rule) || globs.some((one) => matches(commandOf(rule)?.tool ?? rule, one))
}

/** Goes back to the last asterisk only: as a regular expression a rule of many would be tried in every way. */
function matches(name: string, rule: string): boolean {
  let [at, next, asterisk, tried] = [0, 0, -1, 0]
  while (at < name.length) {
    if (rule[next] === '*') [asterisk, tried, next] = [next, at, next + 1]
    else if (rule[next] === '?' || rule[next] === name[at]) [at, next] = [at + 1, next + 1]
    else if (asterisk < 0) return false
    else [tried, at, next] = [tried + 1, tried + 1, asterisk + 1]
  }
  return /^\**$/.test(rule.slice(next))
}

/** As the server reads them: those that protect name a tool in upper or lower case. */
function isRuled(rule: keyof typeof FIELDS, name: string, rules: readonly string[] | null | undefined): boolean {
  if (rule === 'allowed') return isNamed(name, rules)
  return isNamed(
    name.toLowerCase(),
    rules?.map((one) => one.toLowerCase()),
  )
}

/** Of several rules that name a tool the strictest counts. */
export function ruleOf(name: string, lists: RuleLists): ToolRule {
  return RULES.find((rule) => isRuled(rule, name, lists[FIELDS[rule]])) ?? 'usual'
}

/** What may be chosen for a tool: what only reads never asks. */
export function rulesFor(tool: Pick<ToolInfo, 'read_only'>, asksForAll: boolean): ToolRule[] {
  if (tool.read_only) return ['usual', 'denied']
  return asksForAll ? ['usual', 'allowed', 'denied'] : ['usual', 'asked', 'denied']
}

/** The lists that change where a tool is to have this rule. A glob that names others too goes on naming these. */
export function withRule(
  lists: RuleLists,
  name: string,
  rule: ToolRule,
  tools: readonly Pick<ToolInfo, 'name' | 'read_only'>[],
): RuleLists {
  const changed: RuleLists = {}
  for (const one of RULES) {
    const field = FIELDS[one]
    const list = lists[field] ?? []
    if (isRuled(one, name, list) === (one === rule)) continue
    const others = tools.filter((tool) => tool.name !== name && (one === 'denied' || !tool.read_only))
    changed[field] =
      one === rule
        ? [...list, name]
        : list.flatMap((glob) =>
            isRuled(one, name, [glob])
              ? others.map((tool) => tool.name).filter((other) => isRuled(one, other, [glob]))
              : [glob],
          )
  }
  return changed
}

/** How many of the tools have a rule. */
export function countRules(lists: RuleLists): number {
  return RULES.reduce((count, rule) => count + (lists[FIELDS[rule]]?.length ?? 0), 0)
}

/** As a layer's own: an empty list takes the choice back, unless one below has one that it is to go over. */
export function ownLists(lists: RuleLists, below: RuleLists): RuleLists {
  const entries = Object.entries(lists) as [Field, string[]][]
  return Object.fromEntries(
    entries.map(([field, list]) => [field, list.length > 0 || below[field]?.length ? list : null]),
  )
}

const FAMILIES = ['browser', 'desktop', 'file', 'shell', 'mcp'] as const
export type Family = (typeof FAMILIES)[number] | 'other'

/** The tools by what they work on, without families that have none. */
export function byFamily<T extends Pick<ToolInfo, 'name'>>(tools: readonly T[]): [Family, T[]][] {
  const familyOf = (name: string): Family => FAMILIES.find((family) => name.startsWith(`${family}_`)) ?? 'other'
  return ([...FAMILIES, 'other'] as Family[])
    .map((family): [Family, T[]] => [family, tools.filter((tool) => familyOf(tool.name) === family)])
    .filter(([, found]) => found.length > 0)
}
