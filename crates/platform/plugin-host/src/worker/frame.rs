//! Frames between host and child process: a little-endian `u32` length and that many bytes.

use std::io::{Read, Write};

/// Writes one frame.
pub(crate) fn write_frame(out: &mut impl Write, body: &[u8]) -> std::io::Result<()> {
    let length =
        u32::try_from(body.len()).map_err(|_| std::io::Error::other("a frame holds less than 4 GiB"))?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(body)?;
    out.flush()
}

/// Reads one frame; `None` at the end of the input.
pub(crate) fn read_frame(input: &mut impl Read, most: u32) -> std::io::Result<Option<Vec<u8>>> {
    let mut header = [0; 4];
    match input.read_exact(&mut header) {
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u32::from_le_bytes(header);
    if length > most {
        let text = format!("a frame of {length} bytes, where at most {most} are taken");
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, text));
    }
    let mut body = vec![0; length as usize];
    input.read_exact(&mut body)?;
    Ok(Some(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_and_a_large_one_is_not_read() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, b"one").unwrap();
        write_frame(&mut bytes, b"").unwrap();
        let mut input = bytes.as_slice();
        assert_eq!(read_frame(&mut input, 3).unwrap().as_deref(), Some(&b"one"[..]));
        assert_eq!(read_frame(&mut input, 3).unwrap().as_deref(), Some(&b""[..]));
        assert_eq!(read_frame(&mut input, 3).unwrap(), None);
        let error = read_frame(&mut bytes.as_slice(), 2).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
    }
}
