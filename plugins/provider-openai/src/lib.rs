//! planforge-provider-openai
