import type { HighlighterCore } from 'shiki/core'

type Grammar = () => Promise<{ default: Parameters<HighlighterCore['loadLanguage']>[0] }>

const grammars: Record<string, Grammar> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  vue: () => import('shiki/langs/vue.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
}
const aliases: Record<string, string> = {
  sh: 'bash',
  shell: 'bash',
  zsh: 'bash',
  console: 'bash',
  'c++': 'cpp',
  dockerfile: 'docker',
  js: 'javascript',
  mjs: 'javascript',
  md: 'markdown',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  ts: 'typescript',
  yml: 'yaml',
  htm: 'html',
  cfg: 'ini',
}

export interface CodeSpan {
  readonly text: string
  readonly className: string
}

let highlighter: Promise<HighlighterCore> | null = null

async function createHighlighter(): Promise<HighlighterCore> {
  const [core, engine] = await Promise.all([import('shiki/core'), import('shiki/engine/javascript')])
  const theme = core.createCssVariablesTheme({ name: 'tokens', variablePrefix: '--', variableDefaults: {} })
  return await core.createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: engine.createJavaScriptRegexEngine({ forgiving: true }),
  })
}

function className(color: string | undefined): string {
  const token = /token-([a-z-]+)/.exec(color ?? '')?.[1]
  return token ? `tok-${token}` : ''
}

/** The grammar of a language as it is called, or null where there is none. */
export function grammarOf(language: string): string | null {
  const wanted = language.toLowerCase()
  const name = aliases[wanted] ?? wanted
  return Object.hasOwn(grammars, name) ? name : null
}

/** Lines of coloured spans: classes, so that both faces and a strict policy are served. */
export async function colour(code: string, name: string): Promise<CodeSpan[][] | null> {
  const grammar = grammars[name]
  if (!grammar) return null
  highlighter ??= createHighlighter()
  const shiki = await highlighter
  if (!shiki.getLoadedLanguages().includes(name)) await shiki.loadLanguage((await grammar()).default)
  const lines = shiki.codeToTokensBase(code, { lang: name, theme: 'tokens' })
  return lines.map((line) => line.map((token) => ({ text: token.content, className: className(token.color) })))
}
