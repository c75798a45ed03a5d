import type en from './en'
import type later from './enLater'

/** All texts of a language. */
export type Texts = typeof en & typeof later
