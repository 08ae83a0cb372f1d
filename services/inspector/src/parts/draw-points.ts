/** What is drawn of a map: `scale` pixels for 1 on the map, and what lies in the middle. */
export type MapView = { readonly x: number; readonly y: number; readonly scale: number };

export type DrawnPoints = {
  /** x and y of each point. */
  readonly places: Float32Array;
  /** Red, green, blue and opacity of each point, 0 to 255. */
  readonly colours: Uint8Array;
};

export type PointDrawer = {
  /** `software`: WebGL that the processor computes, since the browser uses no graphics card. */
  readonly kind: 'webgl' | 'software' | 'canvas';
  readonly load: (points: DrawnPoints) => void;
  readonly draw: (
    view: MapView,
    size: { readonly width: number; readonly height: number; readonly radius: number },
  ) => void;
  readonly close: () => void;
};

const VERTEX = `
attribute vec2 place;
attribute vec4 colour;
uniform vec2 middle;
uniform vec2 scale;
uniform float diameter;
varying vec4 shade;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  gl_PointSize = diameter;
  shade = colour;
}`;

const FRAGMENT = `
precision mediump float;
varying vec4 shade;
void main() {
  vec2 off = gl_PointCoord - vec2(0.5);
  if (dot(off, off) > 0.25) discard;
  gl_FragColor = vec4(shade.rgb * shade.a, shade.a);
}`;

/** Draws points by WebGL, all by one call, or on a canvas of two dimensions where there is no WebGL. */
export const openDrawer = (canvas: HTMLCanvasElement, isWebglWanted = true): PointDrawer => {
  const gl = isWebglWanted
    ? canvas.getContext('webgl', { antialias: false, premultipliedAlpha: true })
    : null;
  return (gl === null ? undefined : openWebgl(canvas, gl)) ?? openFlat(canvas);
};

const compiled = (gl: WebGLRenderingContext, kind: number, source: string): WebGLShader | null => {
  const shader = gl.createShader(kind);
  if (shader === null) return null;
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  return shader;
};

const openWebgl = (canvas: HTMLCanvasElement, gl: WebGLRenderingContext): PointDrawer | undefined => {
  const vertex = compiled(gl, gl.VERTEX_SHADER, VERTEX);
  const fragment = compiled(gl, gl.FRAGMENT_SHADER, FRAGMENT);
  if (vertex === null || fragment === null) return undefined;
  const program = gl.createProgram();
  gl.attachShader(program, vertex);
  gl.attachShader(program, fragment);
  gl.linkProgram(program);
  if (gl.getProgramParameter(program, gl.LINK_STATUS) !== true) return undefined;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const [places, colours] = [gl.createBuffer(), gl.createBuffer()];
  const [place, colour] = [gl.getAttribLocation(program, 'place'), gl.getAttribLocation(program, 'colour')];
  const [middle, scale] = [gl.getUniformLocation(program, 'middle'), gl.getUniformLocation(program, 'scale')];
  const diameter = gl.getUniformLocation(program, 'diameter');
  let count = 0;
  return {
    kind: isSoftware(gl) ? 'software' : 'webgl',
    load: (points) => {
      count = points.places.length / 2;
      gl.bindBuffer(gl.ARRAY_BUFFER, places);
      gl.bufferData(gl.ARRAY_BUFFER, points.places, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 2, gl.FLOAT, false, 0, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, colours);
      gl.bufferData(gl.ARRAY_BUFFER, points.colours, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(colour);
      gl.vertexAttribPointer(colour, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    },
    draw: (view, { width, height, radius }) => {
      const ratio = sizeCanvas(canvas, width, height);
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(middle, view.x, view.y);
      gl.uniform2f(scale, (2 * view.scale) / width, (2 * view.scale) / height);
      gl.uniform1f(diameter, 2 * radius * ratio);
      if (count > 0) gl.drawArrays(gl.POINTS, 0, count);
    },
    // Its memory is given back now, not when somebody collects the canvas.
    close: () => gl.getExtension('WEBGL_lose_context')?.loseContext(),
  };
};

/** The names of the renderers of Chromium, Mesa and Windows that need no graphics card. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

const isSoftware = (gl: WebGLRenderingContext): boolean => {
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name: unknown = gl.getParameter(info === null ? gl.RENDERER : info.UNMASKED_RENDERER_WEBGL);
  return typeof name === 'string' && SOFTWARE.test(name);
};

const openFlat = (canvas: HTMLCanvasElement): PointDrawer => {
  const context = canvas.getContext('2d');
  let points: DrawnPoints = { places: new Float32Array(), colours: new Uint8Array() };
  /** The indexes of the points of each colour: a canvas changes its colour slowly. */
  let byColour = new Map<string, number[]>();
  return {
    kind: 'canvas',
    load: (given) => {
      points = given;
      byColour = new Map();
      for (let i = 0; i < given.places.length / 2; i++) {
        const [r = 0, g = 0, b = 0, a = 0] = given.colours.subarray(i * 4, i * 4 + 4);
        const key = `rgb(${r} ${g} ${b} / ${(a / 255).toFixed(2)})`;
        const known = byColour.get(key);
        if (known === undefined) byColour.set(key, [i]);
        else known.push(i);
      }
    },
    draw: (view, { width, height, radius }) => {
      if (context === null) return;
      const ratio = sizeCanvas(canvas, width, height);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      const { places } = points;
      for (const [colour, indexes] of byColour) {
        context.fillStyle = colour;
        for (const i of indexes) {
          const x = ((places[i * 2] ?? 0) - view.x) * view.scale + width / 2;
          const y = height / 2 - ((places[i * 2 + 1] ?? 0) - view.y) * view.scale;
          if (x < -radius || y < -radius || x > width + radius || y > height + radius) continue;
          context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
        }
      }
    },
    close: () => undefined,
  };
};

/** Its pixels follow those of the screen. */
const sizeCanvas = (canvas: HTMLCanvasElement, width: number, height: number): number => {
  const ratio = devicePixelRatio;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  return ratio;
};
