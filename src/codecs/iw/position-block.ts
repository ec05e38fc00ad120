import { MalformedFrame } from "../malformed-frame.ts";
import { fromMinutes } from "../wire/coordinates.ts";

const [COMMA, POINT, ZERO] = [0x2c, 0x2e, 0x30];

/**
 * Reads the parts of a position block in order, digit by digit: most packets are positions, and a substring for each part
 * would be most of what a packet allocates. Every read throws MalformedFrame when there is something else.
 */
export class PositionBlock {
  readonly #text: string;
  readonly #hasCommas: boolean;
  #at = 0;

  /** Kids' watches (dialect C) have commas between the parts. */
  constructor(text: string, hasCommas: boolean) {
    this.#text = text;
    this.#hasCommas = hasCommas;
  }

  /** Where the part begins that is read next. */
  get offset(): number {
    return this.#at;
  }

  /** A whole number of so many digits. */
  digits(count: number): number {
    this.#skipComma();
    return this.#digits(count);
  }

  /** Three digits and one decimal. */
  speed(): number {
    this.#skipComma();
    return this.#decimal(3, 1, 1);
  }

  /** One of two letters. */
  letter(first: string, second: string): string {
    this.#skipComma();
    return this.#letter(first, second);
  }

  /** Degrees of two or three digits, minutes with three to six decimals, and the letter of the hemisphere. */
  coordinate(degreeDigits: number, positive: string, negative: string): number {
    this.#skipComma();
    const degrees = this.#digits(degreeDigits);
    const minutes = this.#decimal(2, 3, 6);
    return fromMinutes(degrees, minutes, this.#letter(positive, negative) === negative);
  }

  /** Three groups of flags, which say nothing that is kept. */
  skipFlags(): void {
    this.digits(1);
    this.digits(2);
    this.digits(2);
  }

  /** Six characters, a point among them or none. NaN for several points. */
  course(): number {
    this.#skipComma();
    let value = 0;
    let scale = 1;
    let points = 0;
    for (const end = this.#at + 6; this.#at < end; this.#at++) {
      if (this.#code() === POINT) points++;
      else {
        value = value * 10 + this.#digit();
        if (points > 0) scale *= 10;
      }
    }
    return points > 1 ? Number.NaN : value / scale;
  }

  /** Whole digits, a point, and from `least` to `most` decimals. Exact: both sides of the division are whole. */
  #decimal(wholeDigits: number, least: number, most: number): number {
    let value = this.#digits(wholeDigits);
    if (this.#code() !== POINT) throw malformed();
    this.#at++;
    let scale = 1;
    for (let count = 0; count < most && (count < least || this.#isDigit()); count++) {
      value = value * 10 + this.#digit();
      scale *= 10;
      this.#at++;
    }
    return value / scale;
  }

  #digits(count: number): number {
    let value = 0;
    for (const end = this.#at + count; this.#at < end; this.#at++) value = value * 10 + this.#digit();
    return value;
  }

  #letter(first: string, second: string): string {
    const code = this.#code();
    this.#at++;
    if (code === first.charCodeAt(0)) return first;
    if (code === second.charCodeAt(0)) return second;
    throw malformed();
  }

  #skipComma(): void {
    if (this.#hasCommas && this.#at > 0 && this.#code() === COMMA) this.#at++;
  }

  #digit(): number {
    if (!this.#isDigit()) throw malformed();
    return this.#code() - ZERO;
  }

  #isDigit(): boolean {
    const digit = this.#code() - ZERO;
    return digit >= 0 && digit <= 9;
  }

  /** NaN at the end of the text. */
  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }
}

const malformed = (): MalformedFrame => new MalformedFrame("bad position block");
