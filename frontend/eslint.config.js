import { readdirSync } from 'node:fs'
import vue from 'eslint-plugin-vue'
import tseslint from 'typescript-eslint'
import vueParser from 'vue-eslint-parser'

const features = readdirSync(new URL('./src/features', import.meta.url))

const deepImport = (own) =>
  features
    .filter((name) => name !== own)
    .map((name) => ({ regex: `^@/features/${name}/.+`, message: 'Import a feature through its index.' }))

const featureRules = features.map((name) => ({
  files: [`src/features/${name}/**/*.{ts,vue}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          ...deepImport(name),
          { regex: '^@/app(/|$)', message: 'A feature does not know the application around it.' },
        ],
      },
    ],
  },
}))

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'src/api/generated', 'nginx'] },
  ...tseslint.configs.strict,
  ...vue.configs['flat/recommended'],
  {
    files: ['**/*.vue'],
    languageOptions: {
      parser: vueParser,
      parserOptions: { parser: tseslint.parser, extraFileExtensions: ['.vue'], sourceType: 'module' },
    },
  },
  {
    files: ['src/**/*.{ts,vue}'],
    rules: {
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 6],
      '@typescript-eslint/no-explicit-any': 'error',
      'no-restricted-imports': ['error', { patterns: deepImport('') }],
      'vue/multi-word-component-names': 'off',
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-self-closing': ['error', { html: { void: 'any', normal: 'any' } }],
      'vue/html-indent': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/attributes-order': 'off',
      'vue/require-default-prop': 'off',
    },
  },
  {
    files: ['src/shared/**/*.{ts,vue}'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^@/(features|app)/', message: 'Shared code sees no feature.' }] },
      ],
    },
  },
  { files: ['src/i18n/**'], rules: { 'max-lines': 'off' } },
  { files: ['**/*.spec.ts'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } },
  ...featureRules,
)
