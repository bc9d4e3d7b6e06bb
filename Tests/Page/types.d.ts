// Types for tsc, which reads the page's modules in .ci/check-lint. No browser gets this file.

// What browsers have, and the tsc of Debian 12 does not know.

interface Array<T> {
  findLast(predicate: (value: T, index: number, all: T[]) => unknown): T | undefined
  findLastIndex(predicate: (value: T, index: number, all: T[]) => unknown): number
}

interface URLSearchParams {
  readonly size: number
}

interface Element {
  checkVisibility(options?: {visibilityProperty?: boolean, opacityProperty?: boolean}): boolean
  // The page looks for elements of HTML alone.
  closest(selectors: string): HTMLElement | null
}

interface ParentNode {
  querySelector(selectors: string): HTMLElement | null
  querySelectorAll(selectors: string): NodeListOf<HTMLElement>
}

declare class OffscreenCanvas {
  constructor(width: number, height: number)
  getContext(kind: '2d', settings?: CanvasRenderingContext2DSettings): CanvasRenderingContext2D
}

// Controls of a form by their names.
interface HTMLFormControlsCollection {
  namedItem(name: string): HTMLInputElement | null
}

// The elements of index.html.

interface Document {
  getElementById(id: 'main' | 'nav' | 'orders' | 'said' | 'skip' | 'tools'): HTMLElement
  getElementById(id: 'help'): HTMLDialogElement
}

// What modules share.

interface Session {
  key: string
  source: string
  title?: string
  comment?: string
  scopes: string[]
}

interface Sessions {
  current: Session | null
  onend: () => void
}

interface Call {
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

type Caller = (method: string, path: string, call?: Call) => Promise<{json: any, text: string, etag: string | null}>

interface Pages {
  items: any[]
  load(cursor?: string): Promise<unknown>
}

interface Live {
  fleet: any
  backlog: any
  orders: any[]
  series: {at: number, finished?: number, published?: number}[]
  arrived: number
  state: string
  reason: string
  isPaused: boolean
}

type Child = Node | string | number | boolean | null | undefined | Child[]
type Properties = Record<string, any>
type Make = <Name extends keyof HTMLElementTagNameMap>(tag: Name, properties?: Properties, ...children: Child[]) => HTMLElementTagNameMap[Name]
type Draw = (tag: keyof SVGElementTagNameMap, properties?: Properties, ...children: Child[]) => SVGElement
